import { runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import graphFile from '../../../../../packages/protocol/fixtures/valid/DagModel.tasks.json' with { type: 'json' }
import fullFile from '../../../../../packages/protocol/fixtures/valid/ExecutionTrace.full.json' with { type: 'json' }
import oldFile from '../../../../../packages/protocol/fixtures/valid/ExecutionTrace.version-1-0.json' with { type: 'json' }
import { formatNdjson } from '../../lib/download.ts'
import { createExportName } from './export-trace.tsx'
import { MAX_TRACE_FILE_BYTES, readTraceFile, findSizeProblem } from './read-trace-file.ts'

const full = JSON.stringify(fullFile)

function problemsOf(text: string): readonly string[] {
  const read = readTraceFile(text)
  if (read.ok) throw new Error('It must not be read')
  return [read.reason, ...read.problems.map(({ path, message }) => `${path}: ${message}`)]
}

const AT = '2026-01-01T00:00:00.000Z'

const queued = { type: 'run_queued', queuedAt: AT, ensemble: 'e', workflow: 'SEQUENTIAL' }
const bodies = [
  { ...queued, totalTasks: 0, inputs: {}, tags: {} },
  { type: 'run_cancelling', mode: 'abort', cause: 'SERVER', requestedAt: AT },
  { type: 'run_result', status: 'CANCELLED', outputs: [], durationMs: 5 },
]
// NOTE: events with all their fields, which the reader validates.
const events = bodies.map((body, seq) => ({
  ...body,
  runId: 'r-1',
  seq,
  id: `r-1-${seq}`,
})) as unknown as readonly LoggedRunEvent[]

describe('readTraceFile', () => {
  it('readTraceFile reads a trace of AgentEnsemble, and describes its format and what it lacks', () => {
    const read = readTraceFile(`\u{FEFF}${full}`)
    if (!read.ok) throw new Error(read.reason)
    expect(read.state.tasks).toHaveLength(3)
    expect(read.log).toBeUndefined()
    expect(read.at).toBe(Date.parse('2025-03-15T10:30:11Z'))
    expect(read.facts.format).toBe('AgentEnsemble trace 1.1')
    expect(read.facts.notes).toEqual(['Capture mode STANDARD', 'Workflow SEQUENTIAL'])
    expect(read.facts.missing).toContain('model names')
    const named = full.replaceAll('"iterationIndex"', '"model": "fast", "iterationIndex"')
    const other = readTraceFile(named)
    expect(other.ok && other.facts.missing.includes('model names')).toBe(false)
    expect(other.ok && other.state.tasks[0]?.turns[0]?.model).toBe('fast')
    expect(read.facts.tables.map(({ title, rows }) => [title, rows[0]])).toEqual([
      ['Map-reduce levels', ['0', '4', '1 m 02 s', 'PARALLEL']],
      ['Loops', ['l', '2 of 5', 'PREDICATE', 'a; a']],
      ['State graph g: 1 of 50 steps, ended by END', ['1', 'a', '__END__']],
      ['Errors', ['2025-03-15T10:30:00Z', 'a', 'b', 'X', 'c']],
    ])
  })

  it('readTraceFile reads version 1.0 with unknown fields', () => {
    const read = readTraceFile(JSON.stringify({ ...oldFile, vendor: { x: 1 } }))
    expect(read.ok && read.facts.format).toBe('AgentEnsemble trace 1.0')
    expect(read.ok && read.facts.missing[0]).toBe('model turns')
  })

  it('readTraceFile rejects an invalid trace with every problem and its path', () => {
    const value: ReturnType<typeof JSON.parse> = JSON.parse(full)
    value.captureMode = 'SOME'
    value.taskTraces[0].llmInteractions[0].toolCalls[0].startedAt = 'yesterday'
    value.taskTraces[0].delegations[0].workerTrace.duration = 3
    delete value.metrics.totalTokens
    const [reason, ...problems] = problemsOf(JSON.stringify(value))
    expect(reason).toMatch(/not a valid trace/)
    expect(problems.map((problem) => problem.replace(/:.*/s, '')).toSorted()).toEqual([
      '/captureMode',
      '/metrics/totalTokens',
      '/taskTraces/0/delegations/0/workerTrace/duration',
      '/taskTraces/0/llmInteractions/0/toolCalls/0/startedAt',
    ])
  })

  it.each([
    ['', /not JSON/],
    ['{"a": 1', /not JSON/],
    ['<html>', /not JSON/],
    ['{}', /neither a trace nor/],
    ['42', /neither a trace nor/],
    ['null', /neither a trace nor/],
    [JSON.stringify(graphFile), /task graph/],
    ['[]', /not a list of events/],
  ])('readTraceFile rejects %.20s with the reason', (text, reason) => {
    expect(problemsOf(text)[0]).toMatch(reason)
  })

  it('readTraceFile rejects files that are empty or too large', () => {
    expect([findSizeProblem(1), findSizeProblem(MAX_TRACE_FILE_BYTES)]).toEqual([
      undefined,
      undefined,
    ])
    expect(findSizeProblem(0)).toMatch(/empty/)
    expect(findSizeProblem(MAX_TRACE_FILE_BYTES + 1)).toMatch(/maximum is 50 MB/)
  })
})

describe('a file of events', () => {
  it.each([
    ['NDJSON', formatNdjson(events)],
    ['NDJSON of Windows', formatNdjson(events).replaceAll('\n', '\r\n\r\n')],
    ['a JSON list', JSON.stringify(events)],
  ])('A file of events is read as a run that can be replayed, as %s', (_, text) => {
    const read = readTraceFile(text)
    if (!read.ok) throw new Error(JSON.stringify(read.problems))
    expect(read.state).toEqual(runStateAfter(events))
    expect(read.log?.events).toEqual(events)
    expect(read.facts).toMatchObject({ format: 'Tutti events', missing: [] })
  })

  it('A file of events is read without events of unknown types, which are reported', () => {
    const later = { ...events[1], type: 'choir_sang', solo: true }
    const read = readTraceFile(formatNdjson([events[0], later, events[2]] as LoggedRunEvent[]))
    expect(read.ok && read.state.status).toBe('CANCELLED')
    expect(read.ok && read.facts.missing).toEqual(['events of the unsupported type "choir_sang"'])
  })

  it('A file of events reports missing parts of the log', () => {
    const read = readTraceFile(formatNdjson(events.slice(1, 2)))
    expect(read.ok && read.facts.missing).toEqual(['the start of the run', 'the end of the run'])
  })

  it('A file of events is rejected with every mistake and its line', () => {
    const lines = [
      JSON.stringify(events[0]),
      '{"type": "run_cancelling"',
      JSON.stringify({ ...events[2], runId: 'r-2', status: 'GONE' }),
      JSON.stringify({ ...events[2], seq: 7, runId: 'r-2' }),
    ]
    const [reason, ...problems] = problemsOf(lines.join('\n'))
    expect(reason).toMatch(/events of a single run/)
    expect(problems.join('\n')).toMatch(/^line 2: .*JSON/)
    expect(problems.join('\n')).toMatch(/line 3: seq must be 1, got 2/)
    expect(problems.join('\n')).toMatch(/line 3, \/status: /)
    expect(problems.join('\n')).toMatch(/line 4: seq must be 3, got 7/)
    expect(problems.join('\n')).toMatch(
      /: must contain the events of one run, got those of r-1, r-2/,
    )
  })

  it('A file of events is rejected with the first mistakes and the number of the others', () => {
    const text = Array.from({ length: 1_000 }, () => '{"type":"run_result"}').join('\n')
    const problems = problemsOf(text)
    expect(problems.length).toBeLessThan(250)
    expect(problems.at(-1)).toMatch(/and \d+ more/)
  })
})

it.each([
  ['band', 'band-r-1'],
  ['Release notes / v2', 'Release-notes-v2-r-1'],
  ['../../etc', 'etc-r-1'],
  ['Größe', 'Größe-r-1'],
  ['', 'run-r-1'],
  [undefined, 'run-r-1'],
])('The file name is that of the export of ensemble %j %s', (ensemble, name) => {
  expect(createExportName(ensemble, 'r-1')).toBe(name)
})
