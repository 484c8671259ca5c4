//! A table of tested loads.

use fizeau_record::TestedLoads;

use super::{InputTable, InputTableError};

impl InputTable {
    /// The loads that the rows tell of, one each, for a plan of capacity.
    ///
    /// # Errors
    /// If no column gives the load of a level, two mean the same, a field is no number, or there is no row.
    ///
    /// ```
    /// use fizeau_interop::InputTable;
    /// let table = InputTable::new("tested.csv", b"rate,p99_ttft_ms\n4,210\n8,480\n".to_vec())?;
    /// assert_eq!(table.tested_loads()?.levels().len(), 2);
    /// # Ok::<(), fizeau_interop::InputTableError>(())
    /// ```
    pub fn tested_loads(&self) -> Result<TestedLoads, InputTableError> {
        let whole = |what: String| InputTableError::Table { table: self.name.clone(), what };
        let names: Vec<&str> = self.heads.iter().map(String::as_str).collect();
        let loads = TestedLoads::of(&names, self.greatest("goodput")?);
        let mut loads = loads.map_err(|error| whole(error.to_string()))?;
        self.each::<InputTableError>(&names, |at, fields| {
            loads.add(fields).map_err(|wrong| self.wrong(at, wrong.to_string()))
        })?;
        match (loads.levels(), loads.left_out()) {
            ([], []) => Err(whole("there is no row; give one for each load".to_owned())),
            _ => Ok(loads),
        }
    }

    /// The most that a column holds, at least 0; 0 where there is no such column.
    fn greatest(&self, column: &str) -> Result<f64, InputTableError> {
        let mut greatest = 0.0_f64;
        if self.heads.iter().any(|head| head == column) {
            self.each::<InputTableError>(&[column], |_, fields| {
                let number = fields(column).and_then(|text| text.trim().parse().ok());
                greatest = number.map_or(greatest, |number: f64| greatest.max(number));
                Ok(())
            })?;
        }
        Ok(greatest)
    }
}
