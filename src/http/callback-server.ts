import { ENDPOINTS } from '../wallet/command.js';
import type { Failure } from '../wallet/rejection.js';
import { Admission } from './admission.js';
import { Callback, sendFailure } from './callback.js';
import type { CallbackDeps } from './ports.js';
import type { RequestCodec } from './request-codec.js';
import {
  App,
  type HttpRequest,
  type HttpResponse,
  listenExclusively,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from './uws.js';

const NOTHING_READ = { id: '', productId: '' };

/** The platform's listener: six endpoints, and a refusal in the interface's own shape for everything else. */
export class CallbackServer {
  private readonly app = App();
  private readonly deps: CallbackDeps;
  private socket: us_listen_socket | undefined = undefined;
  private isDraining = false;

  constructor(deps: Omit<CallbackDeps, 'admission'>) {
    this.deps = { ...deps, admission: new Admission(deps.settings.inFlightMax, deps.clock) };
    for (const endpoint of ENDPOINTS) {
      const codec = deps.requests[endpoint];
      this.app.post(`/${endpoint}`, (res, req) => this.handle(res, req, codec));
      this.app.any(`/${endpoint}`, (res) => this.refuse(res, 'wrong-method'));
    }
    this.app.any('/*', (res) => this.refuse(res, 'unknown-path'));
  }

  get inFlight(): number {
    return this.deps.admission.inFlight;
  }

  /** Starts to listen; returns the port. Throws when it cannot. */
  listen(): number {
    const { host, port } = this.deps.settings;
    this.socket = listenExclusively(this.app, host, port);
    return us_socket_local_port(this.socket);
  }

  /** Takes no new connections; requests on those that are open are refused. */
  stopListening(): void {
    this.isDraining = true;
    if (this.socket !== undefined) us_listen_socket_close(this.socket);
    this.socket = undefined;
  }

  /** Closes all connections, answered or not. */
  close(): void {
    this.stopListening();
    this.deps.admission.close();
    this.app.close();
  }

  private handle(res: HttpResponse, req: HttpRequest, codec: RequestCodec): void {
    const isFull = this.deps.admission.isFull;
    const callback = new Callback(this.deps, res, codec);
    if (this.isDraining) callback.refuseAndClose('shutting-down');
    else if (isFull) callback.refuse('overloaded');
    else if (Number(req.getHeader('content-length')) > this.deps.settings.bodyBytesMax) {
      callback.refuseAndClose('body-too-large');
    } else callback.readBody();
  }

  private refuse(res: HttpResponse, failure: Failure): void {
    sendFailure(res, failure, this.deps.responses.failure(NOTHING_READ, failure, this.deps.clock.now()));
  }
}
