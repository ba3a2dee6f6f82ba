package org.cloister.vm.controller.ssh;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.access.AccessResponse;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.CircuitPair;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/** A gateway with the real sshd behind it, in mounts of its own where ada is a user, and persons who call it in real circuits. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails is seen in how a call ends
final class SshGatewayFixture implements AutoCloseable {
    static final int UID = 2001;

    final ControllerUnlockFixture opening = new ControllerUnlockFixture();
    /** Since the beginning. */
    volatile Duration passed = Duration.ZERO;

    final TrustStore trustStore = opening.createTrustStore(() -> ControllerUnlockFixture.NOW.plus(passed));
    final String project = opening.made.history().id();
    private final SecureRandom random = new SecureRandom();
    private final CertificateAuthority owner = CertificateAuthority.ofProject(
            project,
            SubjectPublicKey.of(opening.made.owner().verificationKey()),
            opening.made.owner()::sign,
            ControllerUnlockFixture.NOW,
            Duration.ofDays(300),
            random);
    private final CircuitPair circuits = new CircuitPair();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });
    final List<AuditEvent> records = new CopyOnWriteArrayList<>();
    final VmMetrics metrics = new VmMetrics();
    volatile boolean recordFails;
    final Path folder;
    final Path home;
    final SessionEnvironment place;
    final SshGateway gateway;
    private final TlsCredential own;

    SshGatewayFixture(Path temporary) throws Exception {
        folder = temporary;
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        Path homes = Files.createDirectory(folder.resolve("homes"));
        home = Files.createDirectory(homes.resolve("ada"));
        Files.setAttribute(home, "unix:uid", UID);
        Files.setAttribute(home, "unix:gid", UID);
        Path scripts = Files.createDirectory(folder.resolve("scripts"));
        for (String name : List.of("session", "member-session", "export-session")) {
            Path script = Files.copy(Path.of("..", "packaging", "src", "agent-vm", name), scripts.resolve(name));
            Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        ProcessRunner programs = machine(homes);
        Path sessions = folder.resolve("sessions");
        place = SessionEnvironment.create(programs, folder.resolve("key"), sessions, scripts, homes);
        own = TlsCredential.of(
                opening.keys.signing(),
                opening.unlocked()
                        .authority()
                        .issue(opening.controller, opening.keys.publicKeys().signing(), ControllerUnlockFixture.NOW));
        gateway = new SshGateway(
                new SshGateway.Context(
                        () -> own,
                        trustStore,
                        () -> new ProjectMembers(List.of(new ProjectMember("ada", UID, UID, Optional.of("ada7"))))),
                place,
                new ChildSshdLauncher(programs, scripts.resolve("session"), sessions),
                event -> {
                    if (recordFails) {
                        throw new IOException("test: no room");
                    }
                    records.add(event);
                },
                metrics);
    }

    /** This one, where ada is a user. */
    private ProcessRunner machine(Path homes) throws IOException {
        for (String name : List.of("passwd", "group")) {
            Files.copy(Path.of("/etc", name), folder.resolve(name));
        }
        Files.writeString(
                folder.resolve("passwd"),
                "ada:*:" + UID + ":" + UID + ":Cloister member:" + homes.resolve("ada") + ":/bin/bash\n",
                StandardOpenOption.APPEND);
        Files.writeString(folder.resolve("group"), "ada:!cloister:" + UID + ":ada\n", StandardOpenOption.APPEND);
        return ProcessRunner.withPrefix(List.of(
                "unshare",
                "--mount",
                "/bin/sh",
                "-c",
                "mount --bind \"$1/passwd\" /etc/passwd && mount --bind \"$1/group\" /etc/group && shift && exec \"$@\"",
                "sh",
                folder.toString()));
    }

    @Override
    public void close() {
        gateway.close();
        circuits.close();
        threads.shutdownNow();
        opening.keys.close();
    }

    /** Somebody whom an owner gave these roles. */
    final class Person {
        final String id;
        private final SigningKey key = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        final byte[] certificate;

        Person(String id, CertificateRole... roles) throws Exception {
            this.id = id;
            this.certificate = owner.certifyPerson(
                    id,
                    Set.of(roles),
                    SubjectPublicKey.of(key.verificationKey()),
                    ControllerUnlockFixture.NOW,
                    Duration.ofDays(31));
        }

        SshCircuit calls(CertificateRole role) throws Exception {
            KeyPair pair = BootFixture.pair(SignatureCurve.P384);
            CertificateName name = new CertificateName(id, role.toString(), project);
            byte[] leaf = CertificateAuthority.load(certificate, key::sign, random)
                    .issue(
                            name,
                            SubjectPublicKey.of(SigningKey.of(pair).verificationKey()),
                            ControllerUnlockFixture.NOW,
                            Duration.ofHours(12));
            return new SshCircuit(name, pair, TlsCredential.of(pair.getPrivate(), List.of(leaf, certificate)));
        }
    }

    /** @param metric without what all begin with */
    double counted(String metric) {
        return new String(metrics.text(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("cloister_vm_access_" + metric + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .findFirst()
                .orElseThrow();
    }

    void revoke(Person person) throws Exception {
        X509Certificate read = (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(person.certificate));
        deliver(
                2,
                Duration.ofDays(1),
                new CertificateAuthority.Revocation(read.getSerialNumber(), ControllerUnlockFixture.NOW));
    }

    void deliver(long number, Duration lifetime, CertificateAuthority.Revocation... revoked) throws Exception {
        trustStore.addRevocationList(owner.revoke(
                List.of(revoked), BigInteger.valueOf(number), ControllerUnlockFixture.NOW.plus(passed), lifetime));
    }

    /** A circuit of a person, whose bytes an ssh on this machine gets by a port. */
    final class SshCircuit implements AutoCloseable {
        final Circuit circuit;
        final AccessResponse answer;
        final CompletableFuture<String> ended = new CompletableFuture<>();
        private final ServerSocket listening;
        private final Path identity;
        private final CompletableFuture<AccessResponse> answered = new CompletableFuture<>();
        private final CompletableFuture<Socket> ssh = new CompletableFuture<>();

        private SshCircuit(CertificateName name, KeyPair pair, TlsCredential credential) throws Exception {
            identity = Files.createTempFile(folder, "key", "");
            writeKey(identity, pair);
            listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            circuit = circuits.open(
                            new CircuitTerms(name, opening.controller, Digest.sha384("policy")),
                            new CircuitPair.End(
                                    credential,
                                    CertifiedPeerVerifier.forCircuitEnds(trustStore)
                                            .only(opening.controller),
                                    this::install),
                            new CircuitPair.End(own, gateway.trust().only(name), gateway::startSession))
                    .opener();
            answer = answered.get(40, TimeUnit.SECONDS);
            threads.execute(this::pass);
        }

        private void install(ChannelPipeline pipeline, Circuit opened) {
            MessageFraming framing = new MessageFraming(ProtocolLimits.ACCESS_BYTES, AccessResponse::read);
            pipeline.addLast(framing, new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    if (message instanceof AccessResponse response) {
                        answered.complete(response);
                        ctx.pipeline().remove(framing);
                        return;
                    }
                    ByteBuf bytes = (ByteBuf) message;
                    byte[] piece = ByteBufUtil.getBytes(bytes);
                    bytes.release();
                    ctx.channel().config().setAutoRead(false);
                    ssh.thenAcceptAsync(
                            socket -> {
                                try {
                                    socket.getOutputStream().write(piece);
                                    ctx.executor()
                                            .execute(
                                                    () -> ctx.channel().config().setAutoRead(true));
                                } catch (IOException e) {
                                    ctx.close();
                                }
                            },
                            threads);
                }

                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                    if (event == ChannelInputShutdownEvent.INSTANCE) {
                        ended.complete("said all");
                        ssh.thenAcceptAsync(SshCircuit::shut, threads);
                    }
                }

                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    ended.complete(cause.getMessage());
                    ssh.thenAcceptAsync(SshCircuit::shut, threads);
                }
            });
        }

        private static void shut(Socket socket) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void pass() {
            try (Socket socket = listening.accept()) {
                ssh.complete(socket);
                InputStream in = socket.getInputStream();
                byte[] piece = new byte[1 << 15];
                for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
                    circuit.channel()
                            .writeAndFlush(Unpooled.copiedBuffer(piece, 0, n))
                            .sync();
                }
                circuit.shutdownOutput().sync();
                ended.get();
            } catch (Exception e) {
                ended.complete(e.toString());
            }
        }

        int port() {
            return listening.getLocalPort();
        }

        List<String> options(Path key) throws IOException {
            Path known = folder.resolve("known");
            Files.writeString(known, "vm " + place.hostKey().key() + "\n");
            return List.of(
                    "-F",
                    "none",
                    "-i",
                    key.toString(),
                    "-o",
                    "IdentitiesOnly=yes",
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "StrictHostKeyChecking=yes",
                    "-o",
                    "UserKnownHostsFile=" + known,
                    "-o",
                    "HostKeyAlias=vm",
                    "-o",
                    "LogLevel=ERROR");
        }

        Path identity() {
            return identity;
        }

        ExitResult ssh(String... command) throws Exception {
            return sshWith(identity, "ada", command);
        }

        ExitResult sshWith(Path key, String login, String... command) throws Exception {
            List<String> argv = new ArrayList<>(List.of("ssh"));
            argv.addAll(options(key));
            argv.addAll(List.of("-p", String.valueOf(port()), login + "@127.0.0.1"));
            argv.addAll(List.of(command));
            return run(argv, "");
        }

        ExitResult sftp(String batch) throws Exception {
            List<String> argv = new ArrayList<>(List.of("sftp", "-q"));
            argv.addAll(options(identity));
            argv.addAll(List.of("-P", String.valueOf(port()), "-b", "-", "ada@127.0.0.1"));
            return run(argv, batch);
        }

        ExitResult rsync(String... words) throws Exception {
            List<String> argv = new ArrayList<>(
                    List.of("rsync", "-a", "-e", "ssh -p " + port() + " " + String.join(" ", options(identity))));
            argv.addAll(List.of(words));
            return run(argv, "");
        }

        @Override
        public void close() throws IOException {
            circuit.channel().close();
            listening.close();
        }
    }

    ExitResult run(List<String> argv, String input) throws Exception {
        return ExitResult.of(argv, input, folder, threads);
    }

    static void writeKey(Path file, KeyPair pair) throws IOException {
        Files.writeString(
                file,
                "-----BEGIN PRIVATE KEY-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(pair.getPrivate().getEncoded())
                        + "\n-----END PRIVATE KEY-----\n");
    }
}
