/** For the other packages of Tutti only: its names may change in every version. */
export type { ScriptedModelOptions, ScriptedToolCall, ScriptEntry } from './scripted-model.ts'
export type { ChatModelSetup } from './chat-model-cases.ts'
export type { ScriptedToolAnswer } from './scripted-tool.ts'
