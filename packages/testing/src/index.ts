/** Parts for tests of tools and ensembles, without network and waiting. */
export { fakeClock, type FakeClock } from './fake-clock.ts'
export { scriptedModel, type ScriptedModel, type ScriptedReply } from './scripted-model.ts'
export { type ChatModelCase, chatModelCases } from './chat-model-cases.ts'
export { scriptedReviewer, type ScriptedReviewer } from './scripted-reviewer.ts'
export { scriptedTool, type ScriptedTool } from './scripted-tool.ts'
