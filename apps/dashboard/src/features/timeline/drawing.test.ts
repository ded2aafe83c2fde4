import { describe, expect, it } from 'vitest'

import {
  buildBlocks,
  computeLanePosition,
  computeRowHeight,
  computeRowTops,
  findFirstPosition,
  findLaneAt,
  findPositionAfterKey,
  findPositionAt,
  findPositionNow,
  findSelectedPosition,
  isSelected,
  listPositions,
  type Paper,
} from './positions.ts'
import { drawRow } from './row-drawing.ts'
import { describeEntries, describeRow, joinDescription } from './describe-entry.ts'
import {
  formatOffset,
  listTicks,
  limitScale,
  computeFittingScale,
  pxToMs,
  computeOpeningFactor,
  msToPx,
  createSheet,
  type TimeFrame,
} from './scale.ts'

import type { EntryOf, RunEntry } from '../../api/run-entries.ts'
import type { ReviewState, TaskState, ToolCallState } from '@tutti/protocol/internal'

import type { Lane, TimelineRow } from './timeline-model.ts'

const frame = (scale: number, fromPx = 0, toPx = 1_000): TimeFrame => ({
  originMs: 0,
  scale,
  fromPx,
  toPx,
})

function taskState(fields: Partial<TaskState> = {}): TaskState {
  return {
    name: 'search',
    index: 1,
    description: 'Search',
    agentRole: 'Analyst',
    context: [],
    status: 'RUNNING',
    attempt: 1,
    turns: [],
    agentCalls: [],
    agentUsage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    usage: { inputTokens: 12_400, outputTokens: 5, toolCallCount: 0, costUsd: 0.5 },
    earlierAttempts: [],
    ...fields,
  }
}

function model(
  startMs: number,
  endMs?: number,
  fields: Partial<EntryOf<'model'>> = {},
): EntryOf<'model'> {
  const iterationIndex = fields.target?.iterationIndex ?? 0
  return {
    kind: 'model',
    startMs,
    ...(endMs === undefined ? {} : { endMs }),
    status: endMs === undefined ? 'running' : 'done',
    target: { taskName: 'search', iterationIndex },
    turn: {
      iterationIndex,
      model: 'acme:small',
      status: 'COMPLETED',
      text: '',
      messages: [],
      totalMessageCount: 0,
      inputTokens: 900,
      outputTokens: -1,
      toolCalls: [],
      failures: [],
    },
    ...fields,
  }
}

function tool(
  startMs: number,
  endMs: number,
  id = 'c1',
  fields: Partial<ToolCallState> = {},
): EntryOf<'tool'> {
  const call: ToolCallState = {
    id,
    name: 'web_search',
    arguments: '{}',
    status: 'SUCCEEDED',
    steps: [],
    ...fields,
  }
  const status = call.status === 'FAILED' ? 'failed' : 'done'
  const target = { taskName: 'search', iterationIndex: 0, toolCallId: id }
  return { kind: 'tool', startMs, endMs, status, target, call }
}

function attempt(startMs: number, endMs?: number): EntryOf<'attempt'> {
  const task = taskState()
  const status = endMs === undefined ? 'running' : 'done'
  const target = { taskName: 'search' }
  return {
    kind: 'attempt',
    task,
    startMs,
    ...(endMs === undefined ? {} : { endMs }),
    status,
    target,
  }
}

function rowOf(lanes: readonly Lane[], fields: Partial<TimelineRow> = {}): TimelineRow {
  const task = taskState()
  return {
    name: task.name,
    label: task.name,
    task,
    attempts: [attempt(0, 1_000)],
    reviews: [],
    lanes,
    madeOf: [task],
    ...fields,
  }
}

describe('the sheet', () => {
  it('The sheet of the timeline ends with an ended run', () => {
    expect(createSheet({ startMs: 5, lastMs: 905 }, { isGrowing: false })).toEqual({
      startMs: 5,
      endMs: 905,
    })
    const point = createSheet({ startMs: 5, lastMs: 5 }, { isGrowing: false })
    expect(point.endMs).toBeGreaterThan(point.startMs)
  })

  it('The sheet of the timeline grows in steps of an eighth with an active run, and always covers the run', () => {
    const ends = new Set<number>()
    for (let ms = 1_000; ms <= 64_000; ms += 100) {
      const { endMs } = createSheet({ startMs: 0, lastMs: ms }, { isGrowing: true })
      expect(endMs).toBeGreaterThanOrEqual(ms - 1e-6)
      expect(endMs).toBeLessThanOrEqual(Math.max(4_500, ms * 1.13))
      ends.add(Math.round(endMs))
    }
    expect(ends.size).toBe(25)
  })

  it('The sheet of the timeline limits the zoom to the whole sheet and to a useful maximum', () => {
    const sheet = { startMs: 0, endMs: 10_000 }
    expect(computeFittingScale(sheet, 500)).toBe(0.05)
    expect(limitScale(0.01, sheet, 500)).toBeUndefined()
    expect(limitScale(0.05, sheet, 500)).toBeUndefined()
    expect(limitScale(0.1, sheet, 500)).toBe(0.1)
    expect(limitScale(1e9, sheet, 500)).toBe(8)
    expect(limitScale(1e9, { startMs: 0, endMs: 864e5 }, 500)).toBeCloseTo(8e6 / 864e5)
    expect(limitScale(1e9, { startMs: 0, endMs: 10 }, 500)).toBeUndefined()
  })

  it.each([
    ['nothing wide', 0, 180],
    ['a narrow one', 10, 18],
    ['one over half of the view', 150, 2],
    ['one over all of it', 300, 2],
    ['one beyond it', 9_000, 2],
  ])('The sheet of the timeline zooms into a block: %s', (_crowd, widthPx, factor) => {
    expect(computeOpeningFactor(widthPx, 300)).toBe(factor)
  })

  it('The sheet of the timeline converts positions to instants and back', () => {
    const on = { originMs: 1_000, scale: 0.25 }
    expect(msToPx(on, 1_400)).toBe(100)
    expect(pxToMs(on, 100)).toBe(1_400)
  })
})

describe('the ruler', () => {
  it.each([
    [0.1, ['0', '1 s', '2 s', '3 s', '4 s', '5 s', '6 s', '7 s', '8 s', '9 s', '10 s']],
    [0.002, ['0', '1:00', '2:00', '3:00', '4:00', '5:00', '6:00', '7:00', '8:00']],
    [
      0.5,
      [
        '0',
        '200 ms',
        '400 ms',
        '600 ms',
        '800 ms',
        '1 s',
        '1.2 s',
        '1.4 s',
        '1.6 s',
        '1.8 s',
        '2 s',
      ],
    ],
    [
      0.000_03,
      [
        '0',
        '1:00:00',
        '2:00:00',
        '3:00:00',
        '4:00:00',
        '5:00:00',
        '6:00:00',
        '7:00:00',
        '8:00:00',
        '9:00:00',
      ],
    ],
  ])(
    'The ruler of the timeline uses natural steps at %f pixels per millisecond',
    (scale, labels) => {
      expect(listTicks(frame(scale)).map(({ label }) => label)).toEqual(labels)
    },
  )

  it('The ruler of the timeline separates its labels at any scale, and omits those outside of the frame', () => {
    for (let scale = 1e-7; scale < 20; scale *= 1.7) {
      const ticks = listTicks(frame(scale, 5_000, 6_000))
      expect(ticks.length).toBeGreaterThan(0)
      for (const [index, { px }] of ticks.entries()) {
        expect(px).toBeGreaterThanOrEqual(5_000 - 1e-6)
        expect(px).toBeLessThanOrEqual(6_000 + 1e-6)
        const before = ticks[index - 1]
        if (before !== undefined) expect(px - before.px).toBeGreaterThanOrEqual(71.9)
      }
    }
  })

  it.each([
    [0, '0'],
    [-4, '0'],
    [250, '250 ms'],
    [1_250, '1.25 s'],
    [59_999, '59.999 s'],
    [61_500, '1:01.5'],
    [3_600_000 + 65_000, '1:01:05'],
    [27 * 3_600_000, '1 d 3 h'],
  ])('The ruler of the timeline formats %i ms as %s', (ms, label) => {
    expect(formatOffset(ms)).toBe(label)
  })

  it('The ruler of the timeline omits digits that its steps do not need', () => {
    expect(formatOffset(61_500, 1_000)).toBe('1:01')
    expect(formatOffset(1_500, 1_000)).toBe('1 s')
  })
})

describe('buildBlocks', () => {
  it('buildBlocks returns single notes while they are wide enough', () => {
    const lane = [model(0, 100), model(100, 300)]
    expect(buildBlocks(lane, frame(1), 0)).toMatchObject([
      { notes: lane.slice(0, 1), fromPx: 0, toPx: 100, density: 1 },
      { notes: lane.slice(1), fromPx: 100, toPx: 300, density: 1 },
    ])
  })

  it('buildBlocks merges notes narrower than a pixel, with their density', () => {
    const lane = Array.from({ length: 2_000 }, (_, index) => model(index * 10, index * 10 + 5))
    const blocks = buildBlocks(lane, frame(0.05), 0)
    expect(blocks).toMatchObject([{ notes: lane, fromPx: 0 }])
    expect(blocks[0]?.density).toBeCloseTo(0.5, 1)
  })

  it('buildBlocks returns at most as many blocks as pixels', () => {
    const lane = Array.from({ length: 10_000 }, (_, index) =>
      model(index * 97, index * 97 + (index % 5) * 9),
    )
    for (const scale of [0.001, 0.01, 0.02, 0.1, 1]) {
      const within = frame(scale)
      expect(buildBlocks(lane, within, 0).length).toBeLessThanOrEqual(1_001)
    }
  })

  it('buildBlocks keeps failed notes visible', () => {
    const lane = Array.from({ length: 100 }, (_, index) =>
      model(index * 10, index * 10 + 10, { status: index % 50 === 7 ? 'failed' : 'done' }),
    )
    expect(buildBlocks(lane, frame(0.1), 0)).toMatchObject([{ notes: lane, failedPx: [7, 57] }])
    const single = [model(0, 0, { status: 'failed' })]
    expect(buildBlocks(single, frame(0.1), 0)).toMatchObject([{ failedPx: [0], toPx: 1.5 }])
  })

  it('buildBlocks returns the blocks within the frame, including notes that reach into it', () => {
    const lane = [model(0, 90), model(100, 450), model(500, 560), model(900, 950)]
    const notes = buildBlocks(lane, frame(1, 400, 600), 0).flatMap((block) => block.notes)
    expect(notes).toEqual(lane.slice(1, 3))
  })

  it('buildBlocks extends running notes to the current time', () => {
    expect(buildBlocks([model(0, 10), model(20)], frame(1), 300)).toMatchObject([{}, { toPx: 300 }])
    expect(buildBlocks([model(20)], frame(1), 5)).toMatchObject([{ fromPx: 20, toPx: 21.5 }])
  })
})

describe('a row', () => {
  it('A row of the timeline is as high as its lanes, and has room for a first tool call', () => {
    const one = computeRowHeight(rowOf([[model(0, 1)]]))
    expect(computeRowHeight(rowOf([[model(0, 1)], [tool(0, 1)]]))).toBe(one)
    expect(computeRowHeight(rowOf([[], [], []]))).toBe(one + 15)
    expect(computeRowTops([rowOf([[]]), rowOf([[]])])).toEqual([0, one, 2 * one])
  })

  it('A row of the timeline has lower lanes when there are many', () => {
    const many = rowOf(Array.from({ length: 40 }, () => []))
    expect(computeLanePosition(many, 0).height).toBe(13)
    expect(computeLanePosition(many, 1).height).toBe(5)
    expect(computeRowHeight(many)).toBeLessThan(320)
  })

  it('A row of the timeline finds the lane at each height', () => {
    const row = rowOf([[], [], []])
    for (const index of [0, 1, 2]) {
      const { top, height } = computeLanePosition(row, index)
      expect(findLaneAt(row, top)).toBe(index)
      expect(findLaneAt(row, top + height - 1)).toBe(index)
    }
    expect(findLaneAt(row, 0)).toBeUndefined()
    expect(findLaneAt(row, 500)).toBeUndefined()
  })

  it('A row of the timeline is drawn as one path per style', () => {
    const failing = tool(120, 180, 'c2', { status: 'FAILED' })
    const { paths, names } = drawRow(rowOf([[model(0, 100), model(300)], [failing]]), frame(1), 400)
    expect(Object.keys(paths).toSorted()).toEqual([
      'head-failed',
      'head-model',
      'tail-failed',
      'tail-model',
      'tail-running',
    ])
    expect(paths['tail-model']).toBe('M0 9h99.25v13h-99.25z')
    expect(paths['head-model']).toBe('M0 9h2.5v13h-2.5zM300 9h2.5v13h-2.5z')
    expect(names.map(({ text }) => text)).toEqual(['small', 'small', 'web_sea…'])
  })

  it('A row of the timeline is drawn relative to its frame, and clipped to it', () => {
    const { paths, names } = drawRow(rowOf([[model(0, 1e9)]]), frame(1, 5_000, 6_000), 0)
    expect(paths['tail-model']).toBe('M-10 9h1019.25v13h-1019.25z')
    expect(paths['head-model']).toBeUndefined()
    expect(names).toMatchObject([{ x: 16 }])
  })

  it('A row of the timeline draws many notes as a few blocks, with their density and failures', () => {
    const lane = Array.from({ length: 1_000 }, (_, index) =>
      tool(index * 10, index * 10 + 2, `c${index}`, {
        status: index === 500 ? 'FAILED' : 'SUCCEEDED',
      }),
    )
    const { paths, names } = drawRow(rowOf([[], lane]), frame(0.05), 0)
    expect(Object.keys(paths)).toEqual(['sparse-tool', 'head-failed'])
    expect(paths['head-failed']).toBe('M250 24h2.5v13h-2.5z')
    expect(names).toEqual([])
  })
})

describe('places', () => {
  const review: EntryOf<'review'> = {
    kind: 'review',
    // NOTE: no other fields are read.
    review: { reviewId: 'r', status: 'OPEN', timing: 'AFTER_EXECUTION' } as ReviewState,
    startMs: 600,
    status: 'running',
    target: { taskName: 'search' },
  }
  const first = rowOf([
    [model(0, 100), model(200, 300)],
    [tool(100, 150), tool(150, 200, 'c2')],
  ])
  const second = rowOf([[]], { reviews: [review], attempts: [] })
  const moment = { startMs: 700, endMs: 700, status: 'done' } as const
  const mark: RunEntry = { kind: 'cancel', ...moment, mode: 'abort' }
  const paper: Paper = {
    model: {
      rows: [first, second],
      taskCount: 2,
      marks: [mark],
      startMs: 0,
      lastMs: 1_000,
      isOver: false,
    },
    frame: frame(1),
    nowMs: 900,
    tops: computeRowTops([first, second]),
  }
  const starts = (row: number, track: number): readonly number[] =>
    listPositions(paper, row, track).map(({ fromPx }) => fromPx)

  it('Places on the timeline are attempts and reviews, lanes, and the marks above the rows', () => {
    expect(starts(0, 0)).toEqual([0])
    expect(starts(0, 1)).toEqual([0, 200])
    expect(starts(0, 2)).toEqual([100, 150])
    expect(starts(1, 0)).toEqual([600])
    expect(starts(-1, 0)).toEqual([700])
    expect(starts(5, 0)).toEqual([])
  })

  it('Places on the timeline are found with a tolerance; the later one wins where two overlap', () => {
    const track = listPositions(paper, 0, 2)
    expect(findPositionAt(track, 97, 4)?.fromPx).toBe(100)
    expect(findPositionAt(track, 90, 4)).toBeUndefined()
    expect(findPositionAt(track, 150, 4)?.fromPx).toBe(150)
    expect(findPositionAt(listPositions(paper, 1, 0), 850, 0)?.entries).toEqual([review])
  })

  it('Places on the timeline are reached with the keys, along a track and to the nearest place of the next', () => {
    const walk = (keys: readonly string[]) => {
      let here = findFirstPosition(paper)!
      return keys.map((key) => {
        here = findPositionAfterKey(paper, here, key) ?? here
        return `${here.row} ${here.track} ${here.fromPx}`
      })
    }
    expect(findFirstPosition(paper)).toMatchObject({ row: 0, track: 0 })
    expect(walk(['ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft'])).toEqual([
      '0 1 0',
      '0 1 200',
      '0 1 200',
      '0 2 150',
      '0 2 100',
    ])
    expect(
      walk(['End', 'ArrowDown', 'End', 'ArrowDown', 'Home', 'ArrowDown', 'ArrowDown']),
    ).toEqual(['0 0 0', '0 1 0', '0 1 200', '0 2 150', '0 2 100', '1 0 600', '1 0 600'])
    expect(walk(['ArrowUp', 'ArrowUp', 'ArrowDown'])).toEqual(['-1 0 700', '-1 0 700', '0 0 0'])
    expect(findPositionAfterKey(paper, findFirstPosition(paper)!, 'x')).toBeUndefined()
  })

  it('Places on the timeline are found again at another scale, and after their spans were rebuilt', () => {
    const here = listPositions(paper, 0, 2)[1]!
    const far = { ...paper, frame: frame(0.001) }
    expect(findPositionNow(far, here)).toMatchObject({ entries: first.lanes[1] })
    const row = rowOf([first.lanes[0]!, [tool(100, 150), tool(150, 260, 'c2')]])
    const later = { ...paper, model: { ...paper.model, rows: [row, second] } }
    expect(findPositionNow(later, here)).toMatchObject({ fromPx: 150, toPx: 260 })
    const gone = { ...paper, model: { ...paper.model, rows: [] } }
    expect(findPositionNow(gone, here)).toBeUndefined()
    expect(findFirstPosition(gone)?.entries).toEqual([mark])
  })
})

describe('the selection', () => {
  const again = model(500, 600, { target: { taskName: 'search', iterationIndex: 1 } })
  const row = rowOf([[model(0, 100), again], [tool(100, 150)]])
  const boxOf = (selection: object) =>
    findSelectedPosition(
      row,
      { taskName: 'search', ...selection },
      { frame: frame(1, 0, 550), nowMs: 0 },
    )

  it('The selection on the timeline frames the tool call, or the model call of the turn', () => {
    expect(boxOf({ iterationIndex: 0 })).toEqual({ x: -1, y: 8, width: 101, height: 15 })
    expect(boxOf({ iterationIndex: 0, toolCallId: 'c1' })).toMatchObject({ x: 99, y: 23 })
    expect(boxOf({ toolCallId: 'c1' })).toMatchObject({ x: 99 })
    expect(boxOf({ iterationIndex: 1 })).toMatchObject({ x: 499, width: 56 })
  })

  it('The selection on the timeline frames the call that counts in its turn, not the failed ones', () => {
    const failing = rowOf([[model(0, 50, { status: 'failed' }), model(60, 100)]])
    const parts = { frame: frame(1), nowMs: 0 }
    const box = findSelectedPosition(failing, { taskName: 'search', iterationIndex: 0 }, parts)
    expect(box).toMatchObject({ x: 59, width: 41 })
  })

  it('The selection on the timeline is undefined for a task, and for missing spans', () => {
    expect(boxOf({})).toBeUndefined()
    expect(boxOf({ toolCallId: 'c9' })).toBeUndefined()
    expect(isSelected(tool(0, 1), { taskName: 'search', iterationIndex: 0 })).toBe(false)
  })
})

describe('descriptions', () => {
  const times = { startMs: 0, nowMs: 5_000 }
  const sentence = (entry: RunEntry): string =>
    joinDescription(describeEntries([entry], times)).replace(/ \([0-9:.]+\)/, '')

  it('Descriptions of spans contain title, time, duration and usage; unknown values are a dash', () => {
    expect(sentence(model(1_500, 2_500))).toBe(
      'Model call 1, Answered, At 1.5 s, Duration 1.0 s, Model acme:small, Tokens in 900, Tokens out —, Cost —',
    )
    expect(sentence(tool(200, 240, 'c1', { status: 'FAILED', result: 'No network' }))).toBe(
      'Tool call web_search, Failed, At 200 ms, Duration 40 ms, No network',
    )
    expect(sentence(attempt(1_000))).toBe(
      'search, Running, At 1 s, Elapsed 4.0 s, Tokens in 12.4k, Tokens out 5, Cost $0.50',
    )
  })

  it('Descriptions of spans contain the counts, times and failures of several spans', () => {
    const spans = [tool(0, 10), tool(10, 20, 'c2', { status: 'FAILED' }), model(20, 30)]
    expect(describeEntries(spans, times)).toMatchObject({
      title: '2 tool calls, 1 model call',
      shown: { mark: 'failed', word: '1 failed' },
      note: 'Zoom in to separate them',
    })
  })

  it('Descriptions of spans contain the actions on the run', () => {
    const moment = { startMs: 250, endMs: 250, status: 'done' } as const
    // NOTE: no other fields are read.
    const change = { model: 'acme:large', actor: 'ann' } as EntryOf<'switch'>['change']
    const words = describeEntries([{ kind: 'switch', ...moment, change }], times)
    expect(words.title).toBe('Model switched to acme:large')
    expect(words.facts.slice(1)).toEqual([
      ['For', 'the whole run'],
      ['By', 'ann'],
    ])
    const cancel = describeEntries([{ kind: 'cancel', ...moment, mode: 'boundary' }], times)
    expect(cancel.title).toBe('Cancel requested, letting running tasks finish')
    // NOTE: no other fields are read.
    const decided = { kind: 'TOOL_CALL', status: 'DECIDED', decision: 'EDIT', decidedBy: 'ann' }
    const review = { ...decided, feedback: 'Softer' } as unknown as ReviewState
    expect(sentence({ kind: 'review', ...moment, review })).toBe(
      'Review of a tool call, Edited by ann, At 250 ms, Duration 0 ms, Softer',
    )
  })

  it('Descriptions of spans summarize a whole row', () => {
    const lanes = [
      [model(0, 100), model(200, 300, { status: 'failed' })],
      [tool(100, 150), tool(150, 200)],
    ]
    expect(describeRow(rowOf(lanes, { attempts: [attempt(2_000)] }), times)).toBe(
      'search: Running, started 2 s into the run, 3.0 s long, 2 model calls (1 failed), 2 tool calls',
    )
    expect(
      describeRow(rowOf([[]], { attempts: [], task: taskState({ status: 'PENDING' }) }), times),
    ).toBe('search: Waiting')
  })
})
