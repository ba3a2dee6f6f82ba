package org.cloister.transport.link;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The wire between an agent and a relay, on loopback: passes links on by whole TLS records, and cuts all of them where a test says,
 * in front of one record. What comes afterwards passes.
 */
public final class RecordCuttingProxy implements AutoCloseable {
    private static final int HEADER_BYTES = 5;
    private static final int LENGTH_AT = 3;

    /** Sender of the record. */
    public enum From {
        AGENT,
        RELAY
    }

    private final InetSocketAddress relay;
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean armed = new AtomicBoolean();

    // Guarded by this object's monitor.
    private final Map<From, Integer> records = new EnumMap<>(From.class);
    private From side = From.AGENT;
    private int cutAt = -1;

    public RecordCuttingProxy(InetSocketAddress relay) throws IOException {
        this.relay = relay;
        start(this::serve);
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** Counts anew, and cuts in front of that record of that side, once. */
    public synchronized void arm(From from, int record) {
        count();
        side = from;
        cutAt = record;
        armed.set(true);
    }

    /** Counts anew, and cuts nothing. */
    public synchronized void count() {
        armed.set(false);
        records.clear();
    }

    /** That came since it was counted anew. */
    public synchronized int records(From from) {
        return records.getOrDefault(from, 0);
    }

    /** Whether what it was armed for has happened. */
    public boolean hasCut() {
        return !armed.get();
    }

    private synchronized boolean cuts(From from) {
        int number = records.merge(from, 1, Integer::sum) - 1;
        return armed.get() && from == side && number == cutAt && armed.compareAndSet(true, false);
    }

    private static void start(Runnable body) {
        Thread thread = new Thread(body, "wire");
        thread.setDaemon(true);
        thread.start();
    }

    private void serve() {
        while (!listener.isClosed()) {
            try {
                Socket agent = listener.accept();
                Socket to = new Socket();
                open.add(agent);
                open.add(to);
                to.connect(relay);
                agent.setTcpNoDelay(true);
                to.setTcpNoDelay(true);
                start(() -> pass(From.AGENT, agent, to));
                start(() -> pass(From.RELAY, to, agent));
            } catch (IOException e) {
                // The test is over, or the relay away: the agent finds its link closed and dials again.
                cut();
            }
        }
    }

    private void pass(From from, Socket in, Socket out) {
        try (in;
                out) {
            DataInputStream bytes = new DataInputStream(in.getInputStream());
            OutputStream to = out.getOutputStream();
            byte[] header = new byte[HEADER_BYTES];
            while (true) {
                bytes.readFully(header);
                byte[] body = new byte[((header[LENGTH_AT] & 0xff) << 8) | (header[LENGTH_AT + 1] & 0xff)];
                bytes.readFully(body);
                if (cuts(from)) {
                    cut();
                    return;
                }
                byte[] record = new byte[header.length + body.length];
                System.arraycopy(header, 0, record, 0, header.length);
                System.arraycopy(body, 0, record, header.length, body.length);
                to.write(record);
                to.flush();
            }
        } catch (IOException e) {
            // A link ends as it likes; both its halves with it.
            open.remove(in);
            open.remove(out);
        }
    }

    private void cut() {
        for (Socket each : List.copyOf(open)) {
            open.remove(each);
            try {
                each.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
    }
}
