/** Entry point of the embedded store's thread. */
import { parentPort, workerData } from 'node:worker_threads'

import { serveStore } from './serve-store.ts'

if (parentPort === null) throw new Error('The thread of the run store is not a program')
serveStore(parentPort, workerData)
