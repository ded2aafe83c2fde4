/** The error of an expression without a value; its message is for the model. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError'
}
