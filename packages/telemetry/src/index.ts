/** OpenTelemetry traces of runs. */
export { INSTRUMENTATION } from './instrumentation.ts'
