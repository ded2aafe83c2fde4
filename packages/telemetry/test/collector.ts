/** A collector of traces: a real HTTP server that receives OTLP as JSON, and the spans that it received. */
import { createServer, type IncomingHttpHeaders } from 'node:http'

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base'

import type { AddressInfo } from 'node:net'

/** A span that the collector received. */
export interface SentSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly {
    readonly name: string
    readonly attributes: Record<string, unknown>
  }[]
  readonly error: string | undefined
  readonly isError: boolean
  /** Attributes of the resource that sent the span. */
  readonly resource: Readonly<Record<string, unknown>>
}

/** A running collector. */
export interface Collector extends AsyncDisposable {
  /** URL for traces. */
  readonly url: string
  /** URL for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  /** All spans received so far, in the order of arrival. */
  readonly spans: SentSpan[]
  /** The headers of each request. */
  readonly headers: IncomingHttpHeaders[]
  /** The bodies of all requests. */
  readonly bodies: string[]
  /** Creates a processor that sends to the collector. */
  processor(): SpanProcessor
  /** Resolves when `enough` returns true for the received spans. */
  until(enough: (spans: readonly SentSpan[]) => boolean): Promise<void>
}

export async function startCollector(): Promise<Collector> {
  const spans: SentSpan[] = []
  const headers: IncomingHttpHeaders[] = []
  const bodies: string[] = []
  const waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      bodies.push(body)
      headers.push(request.headers)
      // NOTE: the tests check that the body is OTLP.
      spans.push(...spansOf(JSON.parse(body) as OtlpBody))
      response.setHeader('content-type', 'application/json').end('{}')
      for (const look of waiting.splice(0)) look()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // NOTE: a server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}`
  const url = `${endpoint}/v1/traces`
  return {
    url,
    endpoint,
    spans,
    headers,
    bodies,
    processor: () => new BatchSpanProcessor(new OTLPTraceExporter({ url })),
    async until(enough) {
      while (!enough(spans)) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
        })
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

interface OtlpValue {
  readonly stringValue?: string
  readonly intValue?: number | string
  readonly doubleValue?: number
  readonly boolValue?: boolean
  readonly arrayValue?: { readonly values: readonly OtlpValue[] }
}

type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[]

interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: OtlpAttributes
  readonly events: readonly { readonly name: string; readonly attributes?: OtlpAttributes }[]
  readonly status: { readonly code: number; readonly message?: string }
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpAttributes }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

/** `Status.STATUS_CODE_ERROR` of OTLP. */
const ERROR = 2

function spansOf({ resourceSpans }: OtlpBody): readonly SentSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        traceState: span.traceState,
        kind: span.kind,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
        attributes: valuesOf(span.attributes),
        events: span.events.map(({ name, attributes = [] }) => ({
          name,
          attributes: valuesOf(attributes),
        })),
        isError: span.status.code === ERROR,
        error: span.status.message,
        resource: valuesOf(resource.attributes),
      })),
    ),
  )
}

function valuesOf(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf(value: OtlpValue): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(valueOf)
  return value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue
}
