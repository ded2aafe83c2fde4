/** To configure a server: `export default defineConfig({ … })` in `tutti.config.ts`. */
export {
  defineConfig,
  type AuthConfig,
  type KeyConfig,
  type KeyLimitsConfig,
  type KeyScope,
  type SharedConfig,
  type LimitsConfig,
  type TuttiConfig,
} from './config.ts'
export { listPrices } from './prices.ts'
