package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http2.Http2FrameCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.controller.ssh.ChildSshdLauncher;
import org.cloister.vm.controller.ssh.SessionEnvironment;
import org.cloister.vm.controller.ssh.SshGateway;
import org.cloister.vm.controller.ssh.SshSessionMetrics;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/**
 * A controlling VM that a person comes to, without a machine: agent-vm's desk with the real sshd behind it, in mounts of their own
 * where one member is a user.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class SimulatedSessionVm implements AgentLinkListener, SshSessionMetrics, AutoCloseable {
    static final String LOGIN = "ada";
    static final int UID = 2001;
    private static final long TIMEOUT_S = 30;

    final List<AuditEvent> records = new CopyOnWriteArrayList<>();
    final AtomicInteger sessionsStarted = new AtomicInteger();
    final Path home;
    /** When a session begins. */
    volatile Runnable admitted = () -> {};

    private final AtomicInteger open = new AtomicInteger();
    private volatile AgentAttachStream attached;
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final CountDownLatch served = new CountDownLatch(1);
    private final CertificateName name;
    private final SessionEnvironment environment;
    private final SshGateway gateway;
    private final AgentLink link;

    /** @param folder that logins may pass through */
    SimulatedSessionVm(
            Path folder,
            String relay,
            TlsCredential host,
            TlsCredential own,
            TrustStore trustStore,
            CertificateName name,
            String person)
            throws IOException {
        this.name = name;
        Path homes = folder(folder, "homes");
        home = Files.createDirectory(homes.resolve(LOGIN));
        Files.setAttribute(home, "unix:uid", UID);
        Files.setAttribute(home, "unix:gid", UID);
        Path scripts = folder(folder, "scripts");
        for (String each : List.of("session", "member-session", "export-session")) {
            Path script = Files.copy(Path.of("..", "packaging", "src", "agent-vm", each), scripts.resolve(each));
            Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        ProcessRunner programs = machine(folder);
        environment =
                SessionEnvironment.create(programs, folder.resolve("key"), folder.resolve("sessions"), scripts, homes);
        ProjectMember member = new ProjectMember(LOGIN, UID, UID, Optional.of(person));
        gateway = new SshGateway(
                new SshGateway.Context(() -> own, trustStore, () -> new ProjectMembers(List.of(member))),
                environment,
                new ChildSshdLauncher(programs, scripts.resolve("session"), environment.folder()),
                records::add,
                this);
        String[] at = relay.split(":", 2);
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(new InetSocketAddress(at[0], Integer.parseInt(at[1]))),
                () -> host,
                each -> each,
                trustStore,
                "a host");
        link = new AgentLink(loops, terms, this, new SecureRandom());
    }

    /** Whatever umask there is. */
    private static Path folder(Path in, String name) throws IOException {
        Path made = Files.createDirectories(in.resolve(name));
        Files.setPosixFilePermissions(in, PosixFilePermissions.fromString("rwx--x--x"));
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwx--x--x"));
        return made;
    }

    /** This one, where the member is a user. */
    private ProcessRunner machine(Path folder) throws IOException {
        for (String each : List.of("passwd", "group")) {
            Files.copy(Path.of("/etc", each), folder.resolve(each));
        }
        Files.writeString(
                folder.resolve("passwd"),
                LOGIN + ":*:" + UID + ":" + UID + ":Cloister member:" + home + ":/bin/bash\n",
                StandardOpenOption.APPEND);
        Files.writeString(
                folder.resolve("group"), LOGIN + ":!cloister:" + UID + ":" + LOGIN + "\n", StandardOpenOption.APPEND);
        return ProcessRunner.withPrefix(List.of(
                "unshare",
                "--mount",
                "/bin/sh",
                "-c",
                "mount --bind \"$1/passwd\" /etc/passwd && mount --bind \"$1/group\" /etc/group && shift && exec \"$@\"",
                "sh",
                folder.toString()));
    }

    SimulatedSessionVm boot() throws InterruptedException {
        assertThat(served.await(TIMEOUT_S, TimeUnit.SECONDS))
                .as("its name is served")
                .isTrue();
        return this;
    }

    /** No session is there, and nothing of one. A session starts on a stream, so it is counted once the stream has gone. */
    void awaitIdle() throws Exception {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while ((streams() > 1 || open.get() > 0) && System.nanoTime() - endNs < 0) {
            Thread.sleep(5);
        }
        assertThat(open).as("sessions that are open").hasValue(0);
        assertThat(streams())
                .as("streams: that of its attachment, and circuits")
                .isEqualTo(1);
        try (Stream<Path> left = Files.list(environment.folder())) {
            assertThat(left).as("folders of sessions").isEmpty();
        }
    }

    private int streams() throws Exception {
        Channel connection = attached.link().channel();
        return connection
                .eventLoop()
                .submit(() -> connection
                        .pipeline()
                        .get(Http2FrameCodec.class)
                        .connection()
                        .numActiveStreams())
                .get(TIMEOUT_S, TimeUnit.SECONDS);
    }

    @Override
    public void sessionStarted() {
        open.incrementAndGet();
        sessionsStarted.incrementAndGet();
        admitted.run();
    }

    @Override
    public void sessionEnded() {
        open.decrementAndGet();
    }

    @Override
    public void sessionRefused(String word) {}

    @Override
    public void fileExported(long bytes) {}

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attached = attachment;
        attachment.serve(name);
    }

    @Override
    public void onServed(CertificateName each, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        gateway.onDial(attachment, dial);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        return true;
    }

    @Override
    public void onLost(String why) {}

    @Override
    public void close() {
        link.close();
        gateway.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
