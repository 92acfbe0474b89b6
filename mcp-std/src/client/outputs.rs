//! Output schemas of the server's tools, for checking what the tools bring.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_core::json::Json;
use mcp_core::model::{CallToolResult, Tool};

use super::Client;
use super::error::CallError;
use crate::schema::Validator;

/// The output schemas, as far as the list of tools has been read.
#[derive(Debug, Default)]
pub(crate) struct Outputs(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// `None`: the list has to be read.
    schemas: Option<HashMap<String, Schema>>,
    /// How often that was forgotten: a list that was on its way then is stale.
    epoch: u64,
}

#[derive(Debug)]
enum Schema {
    Text(Json<'static>),
    /// Made when it is needed first.
    Ready(Arc<Validator>),
}

impl Outputs {
    /// The tools are others now.
    pub(crate) fn forget(&self) {
        let mut known = self.lock();
        known.schemas = None;
        known.epoch += 1;
    }

    fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    fn is_known(&self) -> bool {
        self.lock().schemas.is_some()
    }

    fn learn(&self, epoch: u64, tools: Vec<Tool<'static>>) {
        let mut known = self.lock();
        if known.epoch == epoch {
            let schema = |tool: Tool<'static>| {
                Some((tool.name.into_owned(), Schema::Text(tool.output_schema?)))
            };
            known.schemas = Some(tools.into_iter().filter_map(schema).collect());
        }
    }

    /// What checks the results of a tool; `None`: it has no schema.
    fn of(&self, tool: &str) -> Result<Option<Arc<Validator>>, CallError> {
        let mut known = self.lock();
        let Some(schema) = known.schemas.as_mut().and_then(|all| all.get_mut(tool)) else {
            return Ok(None);
        };
        if let Schema::Text(text) = schema {
            let validator = Validator::new(text.as_str()).map_err(|error| {
                CallError::Schema(format!(
                    "it is of no use, and the tool was not called: {error}"
                ))
            })?;
            *schema = Schema::Ready(Arc::new(validator));
        }
        Ok(match schema {
            Schema::Ready(validator) => Some(validator.clone()),
            Schema::Text(_) => None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// What checks the results of a tool, if that is wanted and the tool says how they look.
    pub(super) async fn output_check(
        &self,
        tool: &str,
    ) -> Result<Option<OutputCheck<'_>>, CallError> {
        let Some(outputs) = &self.shared().settings.outputs else {
            return Ok(None);
        };
        if !outputs.is_known() {
            let epoch = outputs.epoch();
            outputs.learn(epoch, self.list_tools().await?);
        }
        let validator = outputs.of(tool)?;
        Ok(validator.map(|validator| OutputCheck { outputs, validator }))
    }
}

/// Checks the result of one call.
pub(super) struct OutputCheck<'c> {
    outputs: &'c Outputs,
    validator: Arc<Validator>,
}

impl OutputCheck<'_> {
    pub(super) fn check(&self, result: &CallToolResult<'_>) -> Result<(), CallError> {
        // Whether a failure has to fit is not said (TOOL-18).
        if result.is_error {
            return Ok(());
        }
        let content = result.structured_content.as_ref().map(Json::raw);
        self.validator
            .validate_result(content, false)
            .map_err(|violations| {
                // It may have been checked with a schema of yesterday: not every server says when it has another.
                self.outputs.forget();
                CallError::Schema(violations.to_string())
            })
    }
}
