/** To configure a server: `export default defineConfig({ … })` in `tutti.config.ts`. To serve from code: `serve`. */
export {
  defineConfig,
  type AuthConfig,
  type KeyConfig,
  type KeyLimitsConfig,
  type KeyScope,
  type SharedConfig,
  type LimitsConfig,
  type TuttiConfig,
} from './config/config.ts'
export { listPrices } from './start/prices.ts'
export { serve } from './serve.ts'
export type { EnsembleServer, ServeOptions } from './start/serve-options.ts'
