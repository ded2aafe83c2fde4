import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace-base'
import { createTraceState } from '@opentelemetry/api'
import { isSampled, isTraceparent, runSpanKey, spanId, traceIdOf } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { beginTrace, callerContext } from './begin-trace.ts'

const RUN = { runId: 'run-1', ensemble: 'trip' }
const ASKED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
const UNRECORDED = { traceparent: ASKED.traceparent.replace(/01$/, '00') }

describe('a run without a trace', () => {
  it('A run without a trace starts a trace whose root is its own span', () => {
    const begun = beginTrace(RUN, {}, undefined)
    const { traceparent } = begun
    expect(isTraceparent(traceparent)).toBe(true)
    expect(isSampled(traceparent)).toBe(true)
    expect(traceparent.slice(36, 52)).toBe(spanId(traceIdOf(traceparent), runSpanKey('run-1')))
    expect(callerContext('run-1', begun)).toBeUndefined()
    expect(callerContext('run-2', begun)).toMatchObject({ isRemote: true })
    expect(beginTrace(RUN, {}, undefined).traceparent).not.toBe(traceparent)
  })

  it('A run without a trace is recorded if the sampler decides so', () => {
    const off = beginTrace(RUN, {}, new AlwaysOffSampler())
    expect(isSampled(off.traceparent)).toBe(false)
    expect(isSampled(beginTrace(RUN, {}, new TraceIdRatioBasedSampler(0)).traceparent)).toBe(false)
    expect(isSampled(beginTrace(RUN, {}, new TraceIdRatioBasedSampler(1)).traceparent)).toBe(true)
    const half = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) })
    const begun = Array.from({ length: 400 }, () => beginTrace(RUN, {}, half))
    const recorded = begun.filter(({ traceparent }) => isSampled(traceparent)).length
    expect(recorded).toBeGreaterThan(100)
    expect(recorded).toBeLessThan(300)
  })

  it('A run without a trace is described to the sampler', () => {
    const asked: unknown[] = []
    const sampler: Sampler = {
      shouldSample: (_context, traceId, name, _kind, attributes) => {
        asked.push(traceId, name, attributes['tutti.run.id'])
        return {
          decision: SamplingDecision.RECORD_AND_SAMPLED,
          traceState: createTraceState('sampler=1'),
        }
      },
      toString: () => 'spy',
    }
    const { traceparent, tracestate } = beginTrace(RUN, {}, sampler)
    expect(asked).toEqual([traceIdOf(traceparent), 'invoke_workflow trip', 'run-1'])
    expect(tracestate).toBe('sampler=1')
  })
})

describe('a run in the trace of its caller', () => {
  it('A run in the trace of its caller is recorded if the caller records it', () => {
    expect(beginTrace(RUN, ASKED, undefined)).toEqual(ASKED)
    expect(beginTrace(RUN, UNRECORDED, undefined)).toEqual(UNRECORDED)
    const based = new ParentBasedSampler({ root: new AlwaysOffSampler() })
    expect(beginTrace(RUN, ASKED, based)).toEqual(ASKED)
    expect(
      beginTrace(RUN, UNRECORDED, new ParentBasedSampler({ root: new AlwaysOnSampler() })),
    ).toEqual(UNRECORDED)
  })

  it('A run in the trace of its caller is recorded by the decision of a sampler that ignores the caller', () => {
    expect(beginTrace(RUN, UNRECORDED, new AlwaysOnSampler())).toEqual(ASKED)
    expect(beginTrace(RUN, ASKED, new AlwaysOffSampler())).toEqual(UNRECORDED)
  })

  it('A run in the trace of its caller keeps other flags and the trace state', () => {
    const asked = { traceparent: ASKED.traceparent.replace(/01$/, '03'), tracestate: 'a=1,b=2' }
    expect(beginTrace(RUN, asked, new AlwaysOnSampler())).toEqual(asked)
    expect(beginTrace(RUN, asked, new AlwaysOffSampler())).toEqual({
      ...asked,
      traceparent: ASKED.traceparent.replace(/01$/, '02'),
    })
    expect(callerContext('run-1', asked)?.traceState?.serialize()).toBe('a=1,b=2')
  })
})
