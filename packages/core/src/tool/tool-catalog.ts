/** Allow-list of the tools that requests can name. */
import { TuttiError } from '../errors.ts'

import type { AgentTool } from './tool.ts'

/** Tools by name. */
export interface ToolCatalog {
  readonly tools: readonly AgentTool[]
  /** Returns the tool of that name, or undefined. */
  find(name: string): AgentTool | undefined
  /**
   * Returns the tool of that name.
   *
   * @throws {TuttiError} INVALID_TOOL, listing the known names, when it does not exist.
   */
  resolve(name: string): AgentTool
}

/**
 * Creates a catalog of tools.
 *
 * @throws {TypeError} when two tools have the same name.
 */
export function toolCatalog(tools: readonly AgentTool[]): ToolCatalog {
  const byName = new Map<string, AgentTool>()
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw new TypeError(`Cannot create tool catalog: two tools are named "${tool.name}"`)
    }
    byName.set(tool.name, tool)
  }
  return {
    tools: [...byName.values()],
    find: (name) => byName.get(name),
    resolve(name) {
      const tool = byName.get(name)
      if (tool !== undefined) return tool
      const known = [...byName.keys()].join(', ')
      throw new TuttiError('INVALID_TOOL', `Unknown tool '${name}'. Available: [${known}]`)
    },
  }
}
