/** An expression that has no value; its message is for the model. */
export class CalculationError extends Error {
  override readonly name = 'CalculationError'
}
