import { describe, expect, it } from 'vitest'

import { toLegacyItem, toLegacyTask } from './legacy.ts'

import type { WirePart, WireTask } from './wire.ts'

const TASK: WireTask = {
  id: 'run-1',
  contextId: 'c',
  status: { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: '2026-01-01T00:00:00Z' },
}

describe('version 0.3 objects', () => {
  it.each<[WirePart, object]>([
    [
      { text: 'a', mediaType: 'text/plain' },
      { kind: 'text', text: 'a' },
    ],
    [{ data: { a: 1 } }, { kind: 'data', data: { a: 1 } }],
    [{ data: [1] }, { kind: 'text', text: '[1]' }],
    [{ data: null }, { kind: 'text', text: 'null' }],
    [
      { raw: 'YQ==', mediaType: 'text/plain', filename: 'a.txt', metadata: { m: 1 } },
      {
        kind: 'file',
        file: { bytes: 'YQ==', mimeType: 'text/plain', name: 'a.txt' },
        metadata: { m: 1 },
      },
    ],
    [{ url: 'https://a.b' }, { kind: 'file', file: { uri: 'https://a.b' } }],
  ])('A part %j is converted to the part %j of 0.3', (part, legacy) => {
    const task = { ...TASK, artifacts: [{ artifactId: 'a', parts: [part] }] }
    expect(toLegacyTask(task)).toMatchObject({ artifacts: [{ parts: [legacy] }] })
  })

  it('Objects of 0.3 have a kind, and states in lower case', () => {
    expect(toLegacyTask(TASK)).toEqual({
      kind: 'task',
      id: 'run-1',
      contextId: 'c',
      status: { state: 'input-required', timestamp: '2026-01-01T00:00:00Z' },
    })
  })

  it.each([true, false])('Objects of 0.3 mark a status as final: %s', (final) => {
    const { id: taskId, contextId, status } = TASK
    expect(
      toLegacyItem({ statusUpdate: { taskId, contextId, status } }, () => final),
    ).toMatchObject({
      kind: 'status-update',
      final,
      taskId,
    })
  })

  it('Objects of 0.3 do not mark an artifact as the last one', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] }
    const update = { taskId: 't', contextId: 'c', artifact, append: true, lastChunk: false }
    expect(toLegacyItem({ artifactUpdate: update }, () => true)).toEqual({
      kind: 'artifact-update',
      ...update,
      artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'x' }] },
    })
  })
})
