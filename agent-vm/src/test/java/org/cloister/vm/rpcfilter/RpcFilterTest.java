package org.cloister.vm.rpcfilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The filter between sockets of this machine's loopback: workers are 127.0.0.2 and so on, slurmctld's place is a socket. */
@Timeout(30)
class RpcFilterTest {
    private static final RpcFilterLimits LIMITS = new RpcFilterLimits(
            4 << 20, 40, 4, 3, 2, Duration.ofMillis(600), Duration.ofSeconds(2), Duration.ofSeconds(3));
    private static final byte[] NOTHING = {};

    private final BlockingQueue<String> journal = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> checks = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> open = new ArrayList<>();
    private ServerSocket slurmctld;
    private RpcFilter filter;

    @BeforeEach
    void start() throws IOException {
        slurmctld = new ServerSocket(0, 50, place(1));
        slurmctld.setSoTimeout(10_000);
        filter = new RpcFilter(
                ProjectNetwork.parse("127.0.0.1/8"),
                0,
                new InetSocketAddress(place(1), slurmctld.getLocalPort()),
                new RpcHeaderPolicy(SlurmRelease.V22_05, LIMITS.maxMessageBytes()),
                LIMITS,
                journal::add);
        Thread thread = new Thread(
                () -> {
                    try {
                        filter.run(checks::add);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                "filter");
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void close() throws Exception {
        filter.close();
        slurmctld.close();
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private static InetAddress place(int last) throws IOException {
        return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
    }

    private Socket worker(int number) throws IOException {
        Socket socket = new Socket();
        open.add(socket);
        socket.bind(new InetSocketAddress(place(number), 0));
        socket.connect(new InetSocketAddress(place(1), filter.port()), 5_000);
        socket.setSoTimeout(10_000);
        return socket;
    }

    private Socket atSlurmctld() throws IOException {
        Socket socket = slurmctld.accept();
        open.add(socket);
        socket.setSoTimeout(10_000);
        return socket;
    }

    private static byte[] message(SlurmMessageType type, int version, byte[] body) {
        ByteBuffer bytes = ByteBuffer.allocate(18 + body.length);
        bytes.putInt(14 + body.length)
                .putShort((short) version)
                .putShort((short) 0)
                .putShort((short) type.number());
        bytes.putInt(body.length).putShort((short) 0).putShort((short) 0).put(body);
        return bytes.array();
    }

    private static byte[] question(byte[] body) {
        return message(SlurmMessageType.REQUEST_JOB_INFO, 38 << 8, body);
    }

    private static byte[] noise(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    /** Its end by the filter, whether in order or not. */
    private static void requireEnded(Socket worker) {
        try {
            assertThat(worker.getInputStream().read()).isEqualTo(-1);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    private void requireNobodyAtSlurmctld() throws IOException {
        slurmctld.setSoTimeout(300);
        assertThatThrownBy(slurmctld::accept).isInstanceOf(SocketTimeoutException.class);
        slurmctld.setSoTimeout(10_000);
    }

    @Test
    void a_question_and_its_answer_pass_as_they_are_and_from_the_workers_place() throws IOException {
        byte[] query = question(noise(300_000));
        byte[] answered = noise(700_001);
        Socket worker = worker(7);
        Thread client = new Thread(() -> {
            try {
                worker.getOutputStream().write(query);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        client.start();
        Socket here = atSlurmctld();
        assertThat(here.getInetAddress()).isEqualTo(place(7));
        byte[] reply = new byte[query.length];
        new DataInputStream(here.getInputStream()).readFully(reply);
        assertThat(reply).isEqualTo(query);
        Thread answering = new Thread(() -> {
            try {
                here.getOutputStream().write(answered);
                here.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        answering.start();
        assertThat(worker.getInputStream().readAllBytes()).isEqualTo(answered);
        assertThat(journal).isEmpty();
    }

    @Test
    void slurmctld_hears_of_nobody_before_the_whole_header_is_there() throws IOException {
        Socket worker = worker(2);
        byte[] query = question(NOTHING);
        for (int i = 0; i < query.length - 1; i++) {
            worker.getOutputStream().write(query, i, 1);
            worker.getOutputStream().flush();
        }
        requireNobodyAtSlurmctld();
        worker.getOutputStream().write(query, query.length - 1, 1);
        byte[] reply = new byte[query.length];
        new DataInputStream(atSlurmctld().getInputStream()).readFully(reply);
        assertThat(reply).isEqualTo(query);
    }

    @Test
    void what_is_not_admitted_ends_without_a_byte_to_slurmctld() throws Exception {
        for (SlurmMessageType type : SlurmMessageType.values()) {
            if (!type.isAdmitted()) {
                Socket worker = worker(3);
                worker.getOutputStream().write(message(type, 38 << 8, noise(50)));
                requireEnded(worker);
            }
        }
        requireNobodyAtSlurmctld();
        assertThat(journal.poll(5, TimeUnit.SECONDS)).startsWith("refused worker=127.0.0.3 reason=\"type ");
        assertThat(journal).hasSize(19);
    }

    @Test
    void a_second_message_on_a_connection_ends_it() throws Exception {
        byte[] query = question(noise(10));
        Socket worker = worker(2);
        worker.getOutputStream().write(query);
        Socket here = atSlurmctld();
        new DataInputStream(here.getInputStream()).readFully(new byte[query.length]);
        worker.getOutputStream().write(message(SlurmMessageType.REQUEST_SHUTDOWN, 38 << 8, NOTHING));
        requireEnded(worker);
        assertThat(here.getInputStream().read()).isEqualTo(-1);
        assertThat(journal.poll(5, TimeUnit.SECONDS)).contains("bytes behind the one message");
    }

    @Test
    void a_second_message_in_the_same_breath_does_not_reach_slurmctld_either() throws IOException {
        byte[] query = question(noise(10));
        byte[] both = Arrays.copyOf(query, query.length + 18);
        System.arraycopy(message(SlurmMessageType.REQUEST_SHUTDOWN, 38 << 8, NOTHING), 0, both, query.length, 18);
        Socket worker = worker(2);
        worker.getOutputStream().write(both);
        byte[] reply = atSlurmctld().getInputStream().readAllBytes();
        assertThat(reply.length).isLessThanOrEqualTo(query.length);
    }

    @Test
    void who_sends_a_message_and_goes_is_heard() throws IOException {
        byte[] query = question(noise(100_000));
        Socket worker = worker(2);
        worker.getOutputStream().write(query);
        worker.close();
        assertThat(atSlurmctld().getInputStream().readAllBytes()).isEqualTo(query);
    }

    @Test
    void half_a_message_ends_with_its_sender() throws IOException {
        byte[] query = question(noise(1000));
        Socket worker = worker(2);
        worker.getOutputStream().write(query, 0, 500);
        worker.close();
        try {
            assertThat(atSlurmctld().getInputStream().readAllBytes().length).isLessThan(query.length);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    @Test
    void silence_slowness_and_idleness_end() throws Exception {
        Socket silent = worker(2);
        requireEnded(silent);
        assertThat(journal.poll(5, TimeUnit.SECONDS)).contains("no whole header within 0 s");
        Socket slow = worker(2);
        slow.getOutputStream().write(question(noise(10)), 0, 20);
        requireEnded(slow);
        assertThat(journal.poll(5, TimeUnit.SECONDS)).contains("no whole message within 2 s");
        Socket waiting = worker(2);
        waiting.getOutputStream().write(question(NOTHING));
        requireEnded(waiting);
        assertThat(journal.poll(5, TimeUnit.SECONDS)).contains("no byte for 3 s");
    }

    @Test
    void a_worker_that_takes_all_it_may_keeps_nobody_else_out() throws Exception {
        for (int i = 0; i < 4; i++) {
            worker(2).getOutputStream().write(question(NOTHING));
        }
        Socket more = worker(2);
        requireEnded(more);
        assertThat(journal.poll(5, TimeUnit.SECONDS)).contains("has all 4 connections");
        List<Socket> reached = List.of(atSlurmctld(), atSlurmctld());
        requireNobodyAtSlurmctld();
        Socket other = worker(3);
        other.getOutputStream().write(question(NOTHING));
        assertThat(atSlurmctld().getInetAddress()).isEqualTo(place(3));
        reached.get(0).close();
        assertThat(atSlurmctld().getInetAddress()).isEqualTo(place(2));
    }

    @Test
    void without_slurmctld_a_worker_is_ended_and_the_filter_goes_on() throws IOException {
        slurmctld.close();
        for (int i = 0; i < 10; i++) {
            Socket worker = worker(2);
            worker.getOutputStream().write(question(NOTHING));
            requireEnded(worker);
        }
        assertThat(journal).isEmpty();
    }

    @Test
    void a_flood_of_everything_leaves_the_filter_as_it_was() throws Exception {
        Random random = new Random(1);
        for (int i = 0; i < 300; i++) {
            Socket worker = worker(2 + random.nextInt(20));
            byte[] bytes = noise(1 + random.nextInt(60));
            try {
                worker.getOutputStream().write(bytes);
                if (random.nextBoolean()) {
                    worker.close();
                }
            } catch (IOException e) {
                // The filter was first.
                assertThat(e).isInstanceOf(SocketException.class);
            }
        }
        for (int i = 0; i < 3; i++) {
            checks.clear();
            checks.poll(5, TimeUnit.SECONDS);
        }
        Socket worker = worker(2);
        worker.getOutputStream().write(question(NOTHING));
        assertThat(atSlurmctld().getInetAddress()).isEqualTo(place(2));
    }
}
