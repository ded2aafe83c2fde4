/**
 * Adapts LangChain: its chat models to the model port, and tools in both directions. Importing this package
 * does not load LangChain; the first call of a model and the adapting of a tool do.
 */
export { langchainModel } from './langchain-model.ts'
export type { LangchainModelOptions, LangchainSource } from './options.ts'
export { fromLangChainTool } from './tools/from-langchain-tool.ts'
export { toLangChainTool } from './tools/to-langchain-tool.ts'
