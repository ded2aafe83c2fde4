/**
 * Model services for tests: servers on loopback that use the providers' streaming formats, answer from a
 * script and record requests. They reject what the real services reject.
 */
export { anthropicStub } from './anthropic-stub.ts'
export { geminiStub } from './gemini-stub.ts'
export { openaiStub, type OpenaiStubOptions } from './openai-stub.ts'
export type {
  ProviderStub,
  StubAnswer,
  StubFailure,
  StubOptions,
  StubReply,
  StubRequest,
  StubScript,
  StubToolCall,
} from './provider-stub.ts'
