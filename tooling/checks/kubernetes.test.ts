/**
 * Renders the manifests in deploy/kubernetes with every combination of components, and checks them against the schemas of
 * Kubernetes and of the operators, against each other, and against the server.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

import { SERVER_VARIABLES } from '../../apps/server/src/environment/env-table.ts'
import { readEnvironment } from '../../apps/server/src/environment/env.ts'
import { describeMetrics } from '../../packages/control-api/src/metrics/server-metrics.ts'
import { ROUTES } from '../../packages/protocol/src/index.ts'
import { UNFINISHED_RUN_STATUSES } from '../../packages/protocol/src/internal.ts'
import { renderKustomization, renderOverlay, type Manifest } from '../container/kustomize.ts'
import { referenceProblems, type ForeignNames } from '../container/manifest-references.ts'
import { schemaProblems } from '../container/manifest-schemas.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const FOLDER = join(ROOT, 'deploy/kubernetes')
const COMPONENTS = readdirSync(join(FOLDER, 'components')).toSorted()

/** Time that the server needs to stop, in milliseconds: its default drain timeout and the release of its runs. */
const DRAIN_MS = 10_000 + 2_000

/** Objects that docs/production.md creates by hand, with the values that the pods get from them. */
const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tutti: {
    DATABASE_URL: 'postgres://tutti:a-password@postgres:5432/tutti',
    TUTTI_API_KEYS: 'operator:admin:a-key-of-an-operator,prometheus:runs:read:a-key-of-prometheus',
  },
  'tutti-metrics': { key: 'a-key-of-prometheus' },
  'tutti-read-replica': { DATABASE_READ_URL: 'postgres://tutti:a-password@replica:5432/tutti' },
}
const FOREIGN: ForeignNames = { secrets: Object.keys(SECRETS), configMaps: ['tutti-config'] }

const DOCKERFILE = read('Dockerfile')
const [, USER = ''] = /^USER (.+)$/m.exec(DOCKERFILE) ?? []
const [, PORT = ''] = /^EXPOSE (\d+)$/m.exec(DOCKERFILE) ?? []
const [, WORKDIR = ''] = /^WORKDIR (\/app)$/m.exec(DOCKERFILE) ?? []
const [, VOLUME = ''] = /^VOLUME \["(.+)"\]$/m.exec(DOCKERFILE) ?? []

const render = (components: readonly string[]): readonly Manifest[] =>
  renderOverlay(FOLDER, {
    resources: ['base'],
    components: components.map((name) => `components/${name}`),
  })

const problemsOf = (manifests: readonly Manifest[]): readonly string[] => [
  ...manifests.flatMap(schemaProblems),
  ...referenceProblems(manifests, FOREIGN),
]

/** All subsets, from none to all: bit n of the index selects component n. */
const COMBINATIONS = Array.from({ length: 2 ** COMPONENTS.length }, (_, bits) =>
  COMPONENTS.filter((_name, n) => Math.trunc(bits / 2 ** n) % 2 === 1),
)

const RENDERED = COMBINATIONS.map((components) => ({ components, manifests: render(components) }))

const ALL = render(COMPONENTS)

describe('the manifests for Kubernetes', () => {
  it('Each combination of components fits the schemas, and refers to existing objects, ports and labels', () => {
    expect(COMPONENTS).toEqual(['keda', 'nats', 'read-replica', 'service-monitor'])
    expect(new Set(COMBINATIONS.map(String)).size).toBe(16)
    for (const { components, manifests } of RENDERED) {
      expect(problemsOf(manifests), components.join('+')).toEqual([])
    }
  })

  it('Each combination of components starts both roles with settings that the server accepts', () => {
    const known = SERVER_VARIABLES.map(({ name }) => name)
    for (const { components, manifests } of RENDERED) {
      const environments = serversIn(manifests).map(environmentOf)
      for (const environment of environments) {
        expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([])
      }
      const settings = environments.map((environment) => readEnvironment(environment))
      expect(settings.map(({ role }) => role)).toEqual(['api', 'worker'])
      expect(settings.map(({ nats }) => nats?.replicas)).toEqual(
        components.includes('nats') ? [3, 3] : [undefined, undefined],
      )
      expect(settings.map(({ databaseReadUrl }) => databaseReadUrl)).toEqual([
        components.includes('read-replica')
          ? SECRETS['tutti-read-replica']?.['DATABASE_READ_URL']
          : undefined,
        undefined,
      ])
    }
  })

  it('Pods run as the user of the image, without privileges, and write only to its volume and /tmp', () => {
    for (const { spec } of serversIn(ALL)) {
      const { securityContext, containers, automountServiceAccountToken } = spec.template.spec
      expect(automountServiceAccountToken).toBe(false)
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(`${securityContext.runAsUser}:${securityContext.runAsGroup}`).toBe(USER)
      const [{ securityContext: guard, ports, volumeMounts }] = containers
      expect(guard).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      })
      expect(ports).toEqual([{ name: 'http', containerPort: Number(PORT) }])
      const paths = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
      expect(paths).toEqual([`${WORKDIR}/tutti.config.ts`, '/tmp', VOLUME])
    }
  })

  it('Pods are restarted by liveness, routed by readiness, and get more time to stop than the server needs', () => {
    for (const { spec } of serversIn(ALL)) {
      const { containers, terminationGracePeriodSeconds } = spec.template.spec
      const [{ livenessProbe, readinessProbe, startupProbe, lifecycle }] = containers
      expect(livenessProbe.httpGet.path).toBe(ROUTES.getLiveness.path)
      expect(startupProbe.httpGet.path).toBe(ROUTES.getLiveness.path)
      expect(readinessProbe.httpGet.path).toBe(ROUTES.getReadiness.path)
      const sleepMs = lifecycle.preStop.sleep.seconds * 1_000
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(DRAIN_MS + sleepMs)
    }
  })

  it('KEDA reads metrics that the server exports, from the Service, and may remove no worker that a budget keeps', () => {
    const { spec } = find(ALL, 'ScaledObject')
    const { metadata: service, spec: serviceSpec } = find(ALL, 'Service', 'tutti')
    const exported = describeMetrics()
    for (const { metadata } of spec.triggers) {
      const url = `http://${service.name}.${service.namespace}.svc:${serviceSpec.ports[0].port}`
      expect(metadata.url).toBe(`${url}${ROUTES.getMetrics.path}`)
      const [, name, label, value] = /^(\w+)\{(\w+)="(\w+)"\}$/.exec(metadata.valueLocation) ?? []
      expect(exported.find((metric) => metric.name === name)?.labels).toEqual([label])
      expect(UNFINISHED_RUN_STATUSES).toContain(value)
      expect(metadata.targetValue).toBe(spec.advanced.scalingModifiers.target)
    }
    const triggers = spec.triggers.map(({ name }: { name: string }) => name)
    expect(spec.advanced.scalingModifiers.formula.split(' + ')).toEqual(triggers)
    const budget = find(ALL, 'PodDisruptionBudget', spec.scaleTargetRef.name)
    expect(spec.minReplicaCount).toBeGreaterThan(budget.spec.minAvailable)
    expect(find(ALL, 'Deployment', spec.scaleTargetRef.name).spec).not.toHaveProperty('replicas')
  })

  it('The limits that the documentation recommends with KEDA are those of its component', () => {
    const { spec } = find(ALL, 'ScaledObject')
    const [, total, each] =
      /maxConcurrentRuns: (\d+), maxRunsPerProcess: (\d+)/.exec(read('docs/production.md')) ?? []
    expect(each).toBe(spec.advanced.scalingModifiers.target)
    expect(Number(total)).toBe(spec.maxReplicaCount * Number(each))
  })

  it('Prometheus scrapes both roles under the job that the alerts name', () => {
    const { spec } = find(ALL, 'ServiceMonitor')
    const { metadata, spec: service } = find(ALL, 'Service', 'tutti-metrics')
    const job = metadata.labels?.[spec.jobLabel]
    expect(read('deploy/prometheus/alerts.yml')).toContain(`up{job="${job}"}`)
    expect(spec.endpoints[0].path).toBe(ROUTES.getMetrics.path)
    const selected = serversIn(ALL).filter(({ spec: { template } }) =>
      Object.entries(service.selector).every(
        ([name, value]) => template.metadata.labels[name] === value,
      ),
    )
    expect(selected).toHaveLength(2)
  })

  it('The documentation creates every Secret and ConfigMap that the manifests expect', () => {
    const commands = read('docs/production.md')
    for (const [name, values] of Object.entries(SECRETS)) {
      expect(commands).toContain(`secret generic ${name} `)
      for (const key of Object.keys(values)) expect(commands).toContain(`--from-literal=${key}=`)
    }
    expect(commands).toContain('configmap tutti-config --from-file=tutti.config.ts')
  })

  it('The overlay in the documentation names all components', () => {
    const [, text = ''] =
      /```yaml\n(# kustomization\.yaml\n[^`]*)```/.exec(read('docs/production.md')) ?? []
    const { resources, components } = parse(text)
    const toName = (path: string): string => path.replace(/^.*\/deploy\/kubernetes\//, '')
    expect(resources.map(toName)).toEqual(['base'])
    expect(components.map(toName)).toEqual(COMPONENTS.map((name) => `components/${name}`))
  })

  it.skipIf(spawnSync('kubectl', ['version', '--client']).status !== 0)(
    'The manifests for Kubernetes are rendered by kubectl in the same way',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'tutti-kustomize-'))
      try {
        const path = (name: string): string => relative(folder, join(FOLDER, name))
        const overlay = {
          apiVersion: 'kustomize.config.k8s.io/v1beta1',
          kind: 'Kustomization',
          resources: [path('base')],
          components: COMPONENTS.map((name) => path(`components/${name}`)),
        }
        writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(overlay))
        const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
        const rendered: readonly Manifest[] = parseAllDocuments(text).map((document) =>
          document.toJS(),
        )
        expect(rendered.toSorted(byName)).toEqual(ALL.toSorted(byName))
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )
})

describe('the checks of manifests', () => {
  const CONTAINER = '/spec/template/spec/containers/0'

  it.each([
    [
      'an unknown field',
      'Deployment',
      'tutti-api',
      `${CONTAINER}/lifecycle/preStop/slep`,
      {},
      /unknown field at .*slep/,
    ],
    [
      'a value of another type',
      'Deployment',
      'tutti-api',
      '/spec/replicas',
      'two',
      /replicas must be integer/,
    ],
    [
      'an unknown field of KEDA',
      'ScaledObject',
      'tutti-worker',
      '/spec/maxReplicas',
      3,
      /unknown field at .*maxReplicas/,
    ],
    [
      'an unknown field of the Prometheus Operator',
      'ServiceMonitor',
      'tutti',
      '/spec/endpoints/0/intervall',
      '5s',
      /unknown field at .*intervall/,
    ],
    [
      'a missing Secret',
      'Deployment',
      'tutti-api',
      `${CONTAINER}/envFrom/0/secretRef/name`,
      'other',
      /names no Secret: "other"/,
    ],
    [
      'a missing ConfigMap',
      'Deployment',
      'tutti-api',
      '/spec/template/spec/volumes/0/configMap/name',
      'other',
      /names no ConfigMap/,
    ],
    [
      'a selector without pods',
      'Service',
      'tutti',
      '/spec/selector/app.kubernetes.io~1name',
      'other',
      /selects nothing/,
    ],
    [
      'a selector that differs from the labels of the pods',
      'Deployment',
      'tutti-api',
      '/spec/selector/matchLabels/app.kubernetes.io~1name',
      'other',
      /selects nothing/,
    ],
    [
      'a budget without pods',
      'PodDisruptionBudget',
      'tutti-api',
      '/spec/selector/matchLabels/app.kubernetes.io~1name',
      'other',
      /selects nothing/,
    ],
    [
      'a missing port',
      'Service',
      'tutti',
      '/spec/ports/0/targetPort',
      'web',
      /leads to no port "web"/,
    ],
    [
      'a probe of a missing port',
      'Deployment',
      'tutti-api',
      `${CONTAINER}/livenessProbe/httpGet/port`,
      'web',
      /probed at no port "web"/,
    ],
    [
      'a missing Deployment',
      'ScaledObject',
      'tutti-worker',
      '/spec/scaleTargetRef/name',
      'other',
      /names no Deployment/,
    ],
    [
      'a missing authentication',
      'ScaledObject',
      'tutti-worker',
      '/spec/triggers/0/authenticationRef/name',
      'other',
      /names no TriggerAuthentication/,
    ],
    [
      'a scraped port that its Service does not have',
      'ServiceMonitor',
      'tutti',
      '/spec/endpoints/0/port',
      'web',
      /leads to no port "web"/,
    ],
  ])('The checks of manifests report %s', (_, kind, name, path, value, problem) => {
    const manifests = structuredClone([...ALL])
    const keys = path
      .slice(1)
      .split('/')
      .map((key) => key.replace('~1', '/'))
    const last = keys.pop() ?? ''
    // oxlint-disable-next-line typescript/no-explicit-any
    keys.reduce((at: any, key) => at[key], find(manifests, kind, name))[last] = value
    const problems = problemsOf(manifests)
    expect(problems.length).toBeGreaterThan(0)
    for (const text of problems) expect(text).toMatch(problem)
  })

  it('The checks of manifests report an object without a schema', () => {
    const manifest = { apiVersion: 'v1', kind: 'Unknown', metadata: { name: 'a' } }
    expect(schemaProblems(manifest)).toEqual(['No schema for v1 Unknown'])
  })
})

describe('renderKustomization', () => {
  it.each([
    ['an unknown field', { namePrefix: 'a-' }, 'Unknown fields in the kustomization of'],
    [
      'a patch without a target',
      { patches: [{ target: { kind: 'Job' }, patch: '[]' }] },
      'No object matches {"kind":"Job"}',
    ],
    [
      'an operation that does not fit',
      { patches: [{ target: { kind: 'Service' }, patch: '[{ op: remove, path: /spec/none }]' }] },
      'Cannot apply "remove" at "/spec/none" to Service "a"',
    ],
  ])('renderKustomization throws for %s', (_, fields, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'tutti-kustomize-'))
    try {
      writeFileSync(join(folder, 'a.yaml'), 'kind: Service\nmetadata: { name: a }\nspec: {}\n')
      const kustomization = { kind: 'Kustomization', resources: ['a.yaml'], ...fields }
      writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
      expect(() => renderKustomization(folder)).toThrow(message)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

/** Returns the workloads of Tutti. */
function serversIn(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.filter(({ kind }) => kind === 'Deployment').toSorted(byName)
}

/** Returns the environment of a pod as the kubelet sets it. */
function environmentOf({ spec }: Manifest): Readonly<Record<string, string>> {
  const { metadata, spec: pod } = spec.template
  const [{ env, envFrom }] = pod.containers
  const environment: Record<string, string> = {}
  for (const { secretRef } of envFrom) Object.assign(environment, SECRETS[secretRef.name])
  for (const { name, value, valueFrom } of env) {
    const [, label = ''] =
      /^metadata\.labels\['(.+)'\]$/.exec(valueFrom?.fieldRef?.fieldPath ?? '') ?? []
    const { name: secret, key } = valueFrom?.secretKeyRef ?? {}
    environment[name] = value ?? metadata.labels[label] ?? SECRETS[secret]?.[key]
  }
  return environment
}

function find(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.find(
    (other) => other.kind === kind && (name ?? other.metadata.name) === other.metadata.name,
  )
  if (found === undefined) throw new Error(`No ${kind} "${name}"`)
  return found
}

function byName(a: Manifest, b: Manifest): number {
  return `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`)
}
