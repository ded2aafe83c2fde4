/** Ports that adapters implement: models, memory and reflections. */
export type { MemoryEntry, MemoryQuery, MemoryStore } from './memory/memory.ts'
export type { Reflection, ReflectionStore } from './memory/reflection.ts'
export type {
  ChatModel,
  Message,
  ModelChunk,
  ModelReply,
  ModelRequest,
  ModelUsage,
  OutputFormat,
  ToolSpecification,
} from './model/chat-model.ts'
