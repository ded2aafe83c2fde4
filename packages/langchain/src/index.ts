/**
 * LangChain at the edge: its chat models behind the model port, tools both ways. Importing this loads
 * nothing of LangChain; the first call of a model does, and adapting a tool.
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
