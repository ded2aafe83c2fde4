/** Parts for tests of tools and ensembles, without network and waiting. */
export { fakeClock, type FakeClock } from './fake-clock.ts'
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedToolCall,
  type ScriptEntry,
} from './scripted-model.ts'
export { chatModelCases, type ChatModelCase, type ChatModelSetup } from './chat-model-cases.ts'
export { scriptedReviewer, type ScriptedReviewer } from './scripted-reviewer.ts'
export { scriptedTool, type ScriptedTool, type ScriptedToolAnswer } from './scripted-tool.ts'
