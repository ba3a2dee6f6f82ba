package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;
import org.cloister.lab.guest.ChannelScript;
import org.cloister.lab.guest.FloodScript;
import org.cloister.lab.host.ChannelHost;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * A relay, a host's process and a guest with a virtio-serial port: a device's circuit reaches a program in the guest, the host
 * vouches for it, and a guest that floods its channel is cut and not ended.
 */
@Tag("scenario")
@Tag("relay")
@Tag("host")
@ExtendWith(SharedLab.class)
class VirtioChannelTest {
    private static final Pattern NEEDED =
            Pattern.compile("lab/target/classes|/(base|protocol|transport)/target/|netty|protobuf|jackson|slf4j-api");
    /** A Java program begins in a guest under emulation within that time, whatever else the machine does. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final int MAX_ENVELOPE = 192 * 1024;
    private static final String FOLDER = "/run/channel";
    private static final String OUTPUT = "/run/channel.said";

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    @SuppressWarnings("try") // the relay is there to be used by others
    @RotatedScenario(6)
    void a_circuit_reaches_a_guest_also_after_its_hosts_agent_was_killed(Lab lab) throws Exception {
        Path image = LabHome.fromEnvironment().image("lab");
        RelaySiteFiles site = RelaySiteFiles.create(folder, 0);
        int port = ChildProcess.port();
        try (ChildProcess relay = ChildProcess.relay(folder, site.relayConfig(port), port);
                LabVm vm = lab.host(1).boot(LabVmSpec.of("chan", image))) {
            site.deliver();
            vm.awaitRunner();
            try {
                reachTwice(site, port, vm);
            } catch (LabException e) {
                throw new LabException(
                        e.getMessage() + "\nguest:\n" + output(vm) + "\nhost and relay:\n" + logs(), "compare them", e);
            }
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void reachTwice(RelaySiteFiles site, int port, LabVm vm) throws Exception {
        // A port has one opener.
        vm.succeed("systemctl", "stop", "agent-vm.service");
        vm.succeed("mkdir", "-m", "700", FOLDER);
        CertificateName name = site.controller();
        for (Path file : List.of(
                site.siteCertificate(), folder.resolve("genesis.json"), site.certificate(name), site.key(name))) {
            GuestJava.writeFile(vm, FOLDER + "/" + file.getFileName(), Files.readAllBytes(file));
        }
        GuestJava java = GuestJava.install(vm, NEEDED);
        ChildProcess host = ChannelHost.start(port, vm.agentSocket(), folder);
        try {
            floodIsCut(java, host);
            java.start(ChannelScript.class, "/run/channel.in", OUTPUT, FOLDER);
            await("the guest's name served", vm, 1, "served from now on");
            Exchange first = open(site, port);
            first.echoes(1_000_000);
            host.kill();
            assertThat(first.ended.get(60, TimeUnit.SECONDS)).contains("lost");
            host = ChannelHost.start(port, vm.agentSocket(), folder);
            await("the guest's name served again", vm, 2, "served from now on");
            awaitWord(host);
            await("evidence again", vm, 2, "evidence ");
            requireOneStatement(site, vm);
            open(site, port).echoes(1_000_000);
            assertThat(output(vm)).contains("lost: ");
        } finally {
            host.close();
        }
    }

    /** Each way of it ends its session, for a reason of its own, and the next session is as good as ever. */
    private void floodIsCut(GuestJava java, ChildProcess host) throws IOException {
        String output = java.run(FloodScript.class, "", LIMIT);
        assertThat(output).contains("garbage ended", "pings ended", "streams ended", "words ended", "over");
        awaitWord(host);
        String log = Files.readString(folder.resolve("ChannelHost.log"));
        assertThat(log).contains("the VM breaks HTTP/2");
        assertThat(log.split("the VM says more than 2000 things in 10 s", -1)).hasSizeGreaterThan(2);
    }

    /** Of the guest's agent, as each process of the host hears it once. */
    private static void awaitWord(ChildProcess host) throws IOException {
        String line = "";
        while (!line.startsWith("first word of ")) {
            line = host.line(LIMIT).orElseThrow(() -> new LabException("the host's process ended", "read its log"));
        }
    }

    /** The host's process was killed between the two questions. */
    private static void requireOneStatement(RelaySiteFiles site, LabVm vm) throws Exception {
        VerificationKey host =
                ScriptedTicketHost.key(site.credential(RelaySiteFiles.HOST)).verificationKey();
        Set<EvidenceStatement> statements = new HashSet<>();
        int answers = 0;
        for (String line : output(vm).split("\n", -1)) {
            if (line.startsWith("evidence ")) {
                byte[] envelope = BinaryText.fromBase64(line.substring("evidence ".length()), MAX_ENVELOPE);
                byte[] payload =
                        DsseEnvelope.parse(envelope, MAX_ENVELOPE).verify(EvidenceStatement.TYPE, List.of(host), 1);
                statements.add(EvidenceStatement.parse(payload));
                answers++;
            }
        }
        assertThat(answers).isGreaterThan(1);
        assertThat(statements).singleElement().satisfies(statement -> {
            assertThat(statement.facts()).isEqualTo(ChannelHost.facts(site));
            assertThat(statement.claim().keys().signing())
                    .isEqualTo(VerificationKey.of(
                            site.credential(site.controller()).chain().get(0).getPublicKey()));
        });
    }

    private static void await(String what, LabVm vm, int times, String text) throws IOException {
        Poll.until(
                what,
                LIMIT,
                "read " + OUTPUT,
                Duration.ofSeconds(1),
                () -> output(vm).split(text, -1).length > times);
    }

    private String logs() throws IOException {
        StringBuilder logs = new StringBuilder();
        for (String each : List.of("ChannelHost.log", "agent-relay.log")) {
            Path log = folder.resolve(each);
            logs.append(each).append(":\n").append(Files.exists(log) ? Files.readString(log) : "nothing\n");
        }
        return logs.toString();
    }

    private static String output(LabVm vm) throws IOException {
        return vm.succeed("cat", OUTPUT);
    }

    /** A guest's first handshake loads what makes one, and may take longer than the other end waits. */
    private Exchange open(RelaySiteFiles site, int port) throws Exception {
        TrustStore trustStore = site.beliefs();
        trustStore.addRevocationList(Files.readAllBytes(folder.resolve("site.crl")));
        trustStore.addRevocationList(Files.readAllBytes(folder.resolve("owner.crl")));
        CertifiedPeerVerifier trust = CertifiedPeerVerifier.forCircuitEnds(trustStore);
        TlsCredential member = site.credential(site.member());
        ClientLink link = ClientLink.dial(
                        loops,
                        RelaySiteFiles.loopback(port),
                        site.credential(site.device()),
                        CertifiedPeerVerifier.forRelays(trustStore).only(RelaySiteFiles.RELAY))
                .get(60, TimeUnit.SECONDS);
        CircuitTerms terms = new CircuitTerms(site.member(), site.controller(), Digest.sha384("a policy"));
        String why = "";
        long endNs = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() - endNs < 0) {
            Exchange exchange = new Exchange();
            try {
                exchange.circuit = Circuit.open(
                                link, terms, member, trust, (pipeline, circuit) -> pipeline.addLast(exchange))
                        .get(60, TimeUnit.SECONDS);
                return exchange;
            } catch (ExecutionException e) {
                why = String.valueOf(e.getMessage());
            }
        }
        throw new LabException("no circuit to the guest: " + why, "read its output");
    }

    /** The device's end of a circuit. */
    @SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
    private static final class Exchange extends ChannelInboundHandlerAdapter {
        final CompletableFuture<String> ended = new CompletableFuture<>();
        private final CompletableFuture<byte[]> echo = new CompletableFuture<>();
        private final ByteArrayOutputStream got = new ByteArrayOutputStream();
        private volatile int readRequested;
        private Circuit circuit;

        void echoes(int bytes) throws Exception {
            byte[] sent = new byte[bytes];
            new Random(1).nextBytes(sent);
            readRequested = bytes;
            circuit.channel().writeAndFlush(Unpooled.wrappedBuffer(sent));
            assertThat(Arrays.equals(echo.get(LIMIT.toSeconds(), TimeUnit.SECONDS), sent))
                    .isTrue();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            got.writeBytes(ByteBufUtil.getBytes(bytes));
            bytes.release();
            if (got.size() >= readRequested) {
                echo.complete(got.toByteArray());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ended.complete(String.valueOf(cause.getMessage()));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ended.complete("closed");
        }
    }
}
