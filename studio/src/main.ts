import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { server } from './lib/server.svelte.ts';

// The list is on its way while the page is drawn.
const connected = server.connect();
mount(App, { target: document.getElementById('app')!, props: { connected } });
