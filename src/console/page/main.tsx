import 'uplot/dist/uPlot.min.css';
import './style.css';
import { render } from 'preact';
import { App } from './app.js';

render(<App />, document.getElementById('console') as HTMLElement);
