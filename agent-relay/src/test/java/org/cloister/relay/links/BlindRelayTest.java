package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Shows that nothing that a project sends is in the relay: not in a core dump, a heap dump, its files, its log at
 * TRACE, the packets of its links. The same search finds it in all of these when the relay is built to leak and the
 * ends do not seal, and in packets when somebody sends it in the clear. Needs root, gdb and tcpdump.
 */
@Tag("scenario")
@Tag("relay")
@Timeout(240)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class BlindRelayTest {
    private static final int TIMES = 20_000;

    @TempDir
    private Path folder;

    private final PlaintextMarkers markers = new PlaintextMarkers();
    private final byte[] up = markers.make("up");
    private final byte[] down = markers.make("down");
    private RelayFixture fixture;
    private int port;
    private Path config;
    private Process capture;

    @BeforeEach
    void install() throws Exception {
        fixture = new RelayFixture(Files.createDirectory(folder.resolve("other")));
        port = RelayServerProcess.freePort();
        config = fixture.install(folder, "listen = \"127.0.0.1:" + port + "\"\n");
        capture = new ProcessBuilder(
                        "tcpdump",
                        "-i",
                        "lo",
                        "-U",
                        "-s",
                        "0",
                        "-B",
                        "65536",
                        "-w",
                        Files.createDirectory(folder.resolve("capture"))
                                .resolve("links.pcap")
                                .toString(),
                        "tcp port " + port)
                .redirectErrorStream(true)
                .start();
        // It says so when it listens.
        String output = capture.inputReader().readLine();
        assertThat(output).contains("listening on lo");
    }

    @AfterEach
    void stop() {
        capture.destroyForcibly();
        fixture.close();
    }

    private InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Test
    void a_relay_holds_nothing_of_what_passes_through_it() throws Exception {
        try (RelayServerProcess relay = start(System.getProperty("java.class.path"));
                TestAgent host = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), address())) {
            CircuitRecorder target = CircuitRecorder.keeping();
            CircuitRecorder opener = CircuitRecorder.keeping();
            assertThat(host.serve(
                            host.attachment(),
                            fixture.controller,
                            fixture.credential(fixture.controller),
                            target.application()))
                    .isEmpty();
            Circuit circuit = RelayFixture.get(Circuit.open(
                    link(),
                    RelayFixture.terms(fixture.member, fixture.controller),
                    fixture.credential(fixture.member),
                    fixture.trust,
                    opener.application()));
            opener.send(up);
            opener.send(times(up));
            target.await(up.length * (TIMES + 1));
            target.send(times(down));
            assertThat(opener.await(down.length * TIMES)).hasSize(down.length * TIMES);
            stall(host, circuit);
            Map<String, Set<String>> found = search(relay);
            assertThat(found.values()).as("%s", found).allMatch(Set::isEmpty);
        }
    }

    /** The far end reads no more, so that the relay is full of what it cannot pass on. */
    private void stall(TestAgent host, Circuit circuit) throws Exception {
        Circuit there = (Circuit) host.circuits.poll(20, TimeUnit.SECONDS);
        there.channel().config().setAutoRead(false);
        for (int i = 0; i < 50 && circuit.channel().isWritable(); i++) {
            circuit.channel().writeAndFlush(Unpooled.wrappedBuffer(times(up))).await(200);
        }
    }

    @Test
    void a_relay_that_is_built_to_leak_is_found_out_when_the_ends_do_not_seal() throws Exception {
        try (RelayServerProcess relay = start(LeakingRelay.make(folder.resolve("build")));
                Socket plain = new Socket(address().getAddress(), port);
                TestAgent host = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), address())) {
            plain.getOutputStream().write(up);
            AgentAttachStream attachment = host.attachment();
            attachment.serve(fixture.controller);
            assertThat(host.served.poll(20, TimeUnit.SECONDS)).isEmpty();
            Future<Http2StreamChannel> opening = link().open(
                            new StreamRequest.Circuit(
                                    ProtocolVersions.OURS, fixture.controller, fixture.member, RelayFixture.POLICY),
                            stream -> {});
            RelayMessage.Dial dial = host.dials.poll(20, TimeUnit.SECONDS);
            Channel there = RelayFixture.get(attachment
                    .link()
                    .open(new StreamRequest.DialBack(ProtocolVersions.OURS, dial.token()), stream -> {}));
            Channel here = RelayFixture.get(opening);
            here.writeAndFlush(Unpooled.wrappedBuffer(up)).sync();
            there.writeAndFlush(Unpooled.wrappedBuffer(down)).sync();
            passed(up.length + down.length);
            Map<String, Set<String>> found = search(relay);
            assertThat(found.get("capture")).as("what was sent in the clear").anyMatch(name -> name.startsWith("up"));
            for (String place : List.of("core dump", "heap dump", "files", "log")) {
                assertThat(found.get(place))
                        .as(place)
                        .anyMatch(name -> name.startsWith("up"))
                        .anyMatch(name -> name.startsWith("down"));
            }
        }
    }

    private RelayServerProcess start(String classPath) throws Exception {
        List<String> jvm = List.of(
                "-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace", "-Dleak=" + folder.resolve("relay/leak"));
        return RelayServerProcess.ofBuild(classPath, folder.resolve("words"), jvm, config)
                .serving(port)
                .deliverDocuments(folder.resolve("agent-relay.sock"), fixture.site);
    }

    private ClientLink link() throws Exception {
        return RelayFixture.get(ClientLink.dial(
                fixture.loops,
                address(),
                fixture.credential(fixture.device),
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY)));
    }

    private static byte[] times(byte[] marker) {
        ByteBuffer all = ByteBuffer.allocate(TIMES * marker.length);
        while (all.hasRemaining()) {
            all.put(marker);
        }
        return all.array();
    }

    private void passed(int bytes) throws Exception {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        Pattern count = Pattern.compile("\"circuit_bytes\":([0-9]+)");
        while (System.nanoTime() - endNs < 0) {
            Matcher matcher =
                    count.matcher(RelayServerProcess.request(folder.resolve("agent-relay.sock"), "GET /status"));
            if (matcher.find() && Integer.parseInt(matcher.group(1)) >= bytes) {
                return;
            }
            Thread.sleep(50);
        }
        throw new AssertionError("the relay has not passed " + bytes + " bytes on");
    }

    /** By place, what is found there of what was sent. */
    private Map<String, Set<String>> search(RelayServerProcess relay) throws Exception {
        Path core = Files.createDirectory(folder.resolve("core"));
        Path heap = Files.createDirectory(folder.resolve("heap"));
        run("gcore", "-a", "-o", core.resolve("core").toString(), relay.pid());
        run("jcmd", relay.pid(), "GC.heap_dump", heap.resolve("heap.hprof").toString());
        capture.destroy();
        assertThat(capture.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.size(folder.resolve("capture/links.pcap"))).isGreaterThan(2_000);
        assertThat(Files.size(heap.resolve("heap.hprof"))).isGreaterThan(2_000_000);
        assertThat(relay.output()).contains("TRACE");
        return Map.of(
                "core dump", markers.in(core),
                "heap dump", markers.in(heap),
                "files", markers.in(folder.resolve("relay")),
                "log", markers.in(folder.resolve("words")),
                "capture", markers.in(folder.resolve("capture")));
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("%s: %s", command[0], output).isZero();
    }
}
