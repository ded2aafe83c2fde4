import { describe, expect, it } from 'vitest'

import { readEnvironment } from './env.ts'
import { listServerSecrets } from '../start/list-secrets.ts'
import { listTelemetrySecrets } from './telemetry-env.ts'

import type { ProcessVariables } from './env-table.ts'

const read = (variables: ProcessVariables) => readEnvironment(variables).telemetry

describe('toTelemetry', () => {
  it('toTelemetry sends no traces by default', () => {
    expect(read({})).toEqual({
      isDisabled: false,
      tracesUrl: undefined,
      headers: {},
      serviceName: undefined,
      resource: {},
      sampler: { followsParent: true, ratio: 1 },
    })
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, 'http://c:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/otlp/' }, 'http://c:4318/otlp/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/in' }, 'http://t/in'],
    [
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/in',
      },
      'http://t/in',
    ],
  ] as const)('toTelemetry reads %o as the address %s', (variables, url) => {
    expect(read(variables)).toMatchObject({ tracesUrl: url })
  })

  it('toTelemetry reads lists of pairs, and prefers the variables for traces', () => {
    expect(
      read({
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x=1',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x=a=b',
        OTEL_RESOURCE_ATTRIBUTES: 'team=blue,',
        OTEL_SERVICE_NAME: 'crew',
      }),
    ).toMatchObject({
      headers: { authorization: 'Bearer abc', x: 'a=b' },
      resource: { team: 'blue' },
      serviceName: 'crew',
    })
  })

  it.each([
    [{ OTEL_SDK_DISABLED: 'TRUE' }, true],
    [{ OTEL_SDK_DISABLED: 'false' }, false],
    [{ OTEL_TRACES_EXPORTER: 'none' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, false],
  ] as const)('toTelemetry reads %o as disabled: %s', (variables, isDisabled) => {
    expect(read(variables)).toMatchObject({ isDisabled })
  })

  it.each([
    ['always_on', undefined, false, 1],
    ['always_off', undefined, false, 0],
    ['traceidratio', '0.25', false, 0.25],
    ['parentbased_always_on', '0.25', true, 1],
    ['parentbased_always_off', undefined, true, 0],
    ['parentbased_traceidratio', '0.5', true, 0.5],
    ['parentbased_traceidratio', undefined, true, 1],
  ])(
    'toTelemetry reads the sampler %s with %s as followsParent %s and ratio %s',
    (name, arg, followsParent, ratio) => {
      const given = arg === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: arg }
      expect(read({ OTEL_TRACES_SAMPLER: name, ...given })).toMatchObject({
        sampler: { followsParent, ratio },
      })
    },
  )

  it('toTelemetry reports every invalid variable, without secrets', () => {
    const variables = {
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'secret',
      OTEL_RESOURCE_ATTRIBUTES: 'a=%',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '7',
    }
    expect(() => read(variables)).toThrow(
      expect.objectContaining({
        details: {
          problems: [
            'OTEL_TRACES_EXPORTER must be "otlp" or "none", got "zipkin"',
            'OTEL_EXPORTER_OTLP_HEADERS must be a list such as key=value,key=value with URL-encoded values',
            'OTEL_RESOURCE_ATTRIBUTES must be a list such as key=value,key=value with URL-encoded values',
            expect.stringMatching(
              /^OTEL_TRACES_SAMPLER must be "always_on".* or ".*, got "jaeger_remote"$/,
            ),
            'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got "7"',
            'OTEL_EXPORTER_OTLP_PROTOCOL must start with "http/", as traces are sent as JSON over HTTP, got "grpc"',
            'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL such as http://localhost:4318',
          ],
        },
      }),
    )
  })

  it('toTelemetry does not check the variables for all signals that those for traces replace', () => {
    expect(
      read({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/in',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      }),
    ).toMatchObject({ tracesUrl: 'http://t/in' })
    expect(() => read({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' })).toThrow(
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must start with "http/"',
    )
  })

  it('toTelemetry lists the headers and passwords of a collector as secrets', () => {
    const { secrets } = readEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:pass%2Dword@collector',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abcdefgh12,x=short',
    })
    expect(secrets).toEqual(['pass%2Dword', 'pass-word', 'Bearer abcdefgh12', 'abcdefgh12'])
    expect(listTelemetrySecrets({}, [undefined, 'http://collector'])).toEqual([])
    const telemetry = { traces: { url: 'http://c', headers: { key: 'of-the-config' } } }
    expect(listServerSecrets({ telemetry }, { secrets: ['other'] })).toEqual([
      'other',
      'of-the-config',
    ])
  })
})
