//! Tables with a line for each of some rows, beside a model: CSV, TSV or NDJSON by the name of the file.

use crate::exit::Failure;
use crate::files::Output;
use linsep::data::write::{OutputFormat, Packer, quote};
use linsep::{Dataset, Error};
use serde_json::Value;
use std::io::{self, Write};

/// A table that is to be written.
pub(in crate::commands) struct RowTable {
    pub(in crate::commands) output: Output,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Delimited(u8),
    Objects,
}

impl RowTable {
    /// The table that a flag asks for.
    pub(in crate::commands) fn asked(flag: &str, output: &Output) -> Result<RowTable, Failure> {
        let path = output.path();
        if output.is_stdout() {
            let words = format!("--{flag}: the rows go to a file, - is none");
            return Err(Error::usage(words).into());
        }
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let name = name.unwrap_or_default();
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let form = match OutputFormat::of_path(path).0 {
            Some(OutputFormat::Table(delimiter)) => Form::Delimited(delimiter),
            _ if name.ends_with(".ndjson") || name.ends_with(".jsonl") => Form::Objects,
            _ => {
                return Err(Error::usage(format!(
                    "--{flag}: {} is to be a table; end its name in .csv, .tsv or .ndjson, with .gz or .zst behind it if it is to be packed",
                    path.display()
                ))
                .into());
            }
        };
        Ok(RowTable { output: output.clone(), form })
    }

    /// Writes row, file, line and label of each row, and what else is known of it.
    pub(in crate::commands) fn write(
        &self,
        data: &Dataset,
        names: &[&str],
        rows: impl Iterator<Item = (u32, Vec<Value>)>,
    ) -> Result<(), Failure> {
        let all: Vec<&str> =
            ["row", "file", "line", "label"].iter().chain(names).copied().collect();
        self.output.write(|out| {
            let mut out = Packer::new(out, OutputFormat::of_path(self.output.path()).1)?;
            if let Form::Delimited(_) = self.form {
                let header: Vec<Value> = all.iter().map(|name| Value::from(*name)).collect();
                self.line(&mut out, &all, &header)?;
            }
            for (row, more) in rows {
                let origin = data.origin();
                let mut fields = vec![
                    Value::from(row),
                    origin.file(u64::from(row)).map_or(Value::Null, Value::from),
                    origin.line(u64::from(row)).map_or(Value::Null, Value::from),
                    Value::from(data.label_text(row as usize)),
                ];
                fields.extend(more);
                self.line(&mut out, &all, &fields)?;
            }
            out.finish()
        })?;
        Ok(())
    }

    fn line(&self, out: &mut dyn Write, names: &[&str], fields: &[Value]) -> io::Result<()> {
        let mut line = Vec::new();
        match self.form {
            Form::Objects => {
                let pair = |(name, value): (&&str, &Value)| format!("\"{name}\":{value}");
                let pairs: Vec<String> = names.iter().zip(fields).map(pair).collect();
                line.extend_from_slice(format!("{{{}}}", pairs.join(",")).as_bytes());
            }
            Form::Delimited(delimiter) => {
                for (k, field) in fields.iter().enumerate() {
                    if k > 0 {
                        line.push(delimiter);
                    }
                    match field {
                        Value::Null => {}
                        Value::String(text) => quote(text, delimiter, &mut line),
                        other => line.extend_from_slice(other.to_string().as_bytes()),
                    }
                }
            }
        }
        line.push(b'\n');
        out.write_all(&line)
    }
}
