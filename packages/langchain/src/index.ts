/**
 * Adapts LangChain: its chat models to the model port, and tools in both directions. Importing this package
 * does not load LangChain; the first call of a model and the adapting of a tool do.
 */
export { langchainModel } from './langchain-model.ts'
export type { LangchainModelOptions, LangchainSource } from './options.ts'
export { providerFacts, type ProviderFacts } from './providers.ts'
export {
  fromLangChainTool,
  type AnyLangChainTool,
  type FromLangChainToolOptions,
} from './tools/from-langchain-tool.ts'
export {
  toLangChainTool,
  type LangChainTool,
  type ToLangChainToolOptions,
} from './tools/to-langchain-tool.ts'
