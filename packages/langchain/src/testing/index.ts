/**
 * Model services for tests: servers on loopback that speak the providers' own streaming wire, answer
 * from a script and record what they were sent. They refuse what the real services refuse.
 */
export { anthropicStub } from './anthropic-stub.ts'
export { geminiStub } from './gemini-stub.ts'
export { openaiStub } from './openai-stub.ts'
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
