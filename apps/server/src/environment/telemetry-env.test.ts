import { describe, expect, it } from 'vitest'

import { readEnvironment } from './env.ts'
import { listServerSecrets } from '../start/list-secrets.ts'
import { readTelemetry, listTelemetrySecrets } from './telemetry-env.ts'

type Variables = Readonly<Record<string, string>>

function read(variables: Variables) {
  const problems: string[] = []
  const telemetry = readTelemetry((name) => variables[name], problems)
  return { ...telemetry, problems }
}

describe('readTelemetry', () => {
  it('sends no traces by default', () => {
    expect(read({})).toEqual({
      isDisabled: false,
      tracesUrl: undefined,
      headers: {},
      serviceName: undefined,
      resource: {},
      sampler: { followsParent: true, ratio: 1 },
      problems: [],
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
  ] as const)('reads %o as the address %s', (variables, url) => {
    expect(read(variables)).toMatchObject({ tracesUrl: url, problems: [] })
  })

  it('reads lists of pairs, and prefers the variables for traces', () => {
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
      problems: [],
    })
  })

  it.each([
    [{ OTEL_SDK_DISABLED: 'TRUE' }, true],
    [{ OTEL_SDK_DISABLED: 'false' }, false],
    [{ OTEL_TRACES_EXPORTER: 'none' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, false],
  ] as const)('reads %o as disabled: %s', (variables, isDisabled) => {
    expect(read(variables)).toMatchObject({ isDisabled, problems: [] })
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
    'reads the sampler %s with %s as followsParent %s and ratio %s',
    (name, arg, followsParent, ratio) => {
      const given = arg === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: arg }
      expect(read({ OTEL_TRACES_SAMPLER: name, ...given })).toMatchObject({
        sampler: { followsParent, ratio },
        problems: [],
      })
    },
  )

  it('reports every invalid variable, without secrets', () => {
    const { problems } = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@collector',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'secret',
      OTEL_RESOURCE_ATTRIBUTES: 'a=%',
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
    })
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'OTEL_TRACES_EXPORTER',
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_RESOURCE_ATTRIBUTES',
      'OTEL_TRACES_SAMPLER',
    ])
    expect(problems.join('\n')).not.toContain('secret')
    const ratio = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' }
    expect(read(ratio).problems).toEqual([
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got "7"',
    ])
  })

  it('lists the headers and passwords of a collector as secrets', () => {
    const { secrets } = readEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:pass%2Dword@collector',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abcdefgh12,x=short',
    })
    expect(secrets).toEqual(['Bearer abcdefgh12', 'abcdefgh12', 'pass-word'])
    expect(listTelemetrySecrets({}, [undefined, 'http://collector'])).toEqual([])
    const telemetry = { traces: { url: 'http://c', headers: { key: 'of-the-config' } } }
    expect(listServerSecrets({ telemetry }, { secrets: ['other'] })).toEqual([
      'other',
      'of-the-config',
    ])
  })
})
