/** Configures a server with `export default defineConfig({ … })` in `tutti.config.ts`, or serves from code with `serve`. */
export { defineConfig, type TuttiConfig } from './config/config.ts'
export { listPrices } from './prices.ts'
export { serve } from './serve.ts'
export type { EnsembleServer, ServeOptions } from './start/serve-options.ts'
