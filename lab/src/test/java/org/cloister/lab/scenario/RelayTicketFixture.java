package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.site.SiteRelay;
import org.cloister.protocol.audit.AuditLine;
import org.cloister.protocol.audit.AuditLogVerifier;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.audit.AuditSegment;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.WitnessedAuditHead;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.PemCredentialFile;

/** The relay as a process before the lab's Slurm, a scripted host for each node, and a scripted controlling VM. */
@SuppressWarnings("FutureReturnValueIgnored") // what a look throws is kept, and checked
final class RelayTicketFixture implements AutoCloseable {
    static final String JOB = "wet-spring-of-1847";
    static final String PERSON = "Clementine Ashgrove";

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long POLL_MS = 100;
    /** Of guests in which nobody speaks. */
    private static final Duration BOOT = Duration.ofMinutes(1);

    final Lab lab;
    final SlurmCommandWrappers programs;
    final TicketSteps steps;
    final ScriptedControllerVm vm;
    final List<ScriptedTicketHost> hosts = new ArrayList<>();

    private final Path folder;
    final RelaySiteFiles site;
    /** Of each host the present one, and who else uses it. */
    private final Map<CertificateName, ClientLink> links = new ConcurrentHashMap<>();

    private final Map<CertificateName, Consumer<ClientLink>> guests = new ConcurrentHashMap<>();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ScheduledExecutorService poller = Executors.newSingleThreadScheduledExecutor();
    private final LinkedBlockingQueue<Exception> faults = new LinkedBlockingQueue<>();
    private final SiteRelay relay;

    RelayTicketFixture(Lab lab, Path folder) throws IOException, GeneralSecurityException {
        this(lab, folder, RelaySiteFiles.NODES, Optional.empty());
    }

    /**
     * @param scripted hosts, over the first of which the controlling VM comes
     * @param step what a job's step calls in the place of {@link TicketSteps}, with the ticket behind it
     */
    RelayTicketFixture(Lab lab, Path folder, List<CertificateName> scripted, Optional<String> step)
            throws IOException, GeneralSecurityException {
        this.lab = lab;
        this.folder = folder;
        this.programs = lab.slurm().programs();
        this.steps = TicketSteps.create(Files.createTempDirectory(programs.folder(), "tickets-"));
        this.site = RelaySiteFiles.create(folder, 0);
        this.vm = new ScriptedControllerVm(site);
        byte[] statement = ("{\"job\":\"" + JOB + "\",\"user\":\"" + PERSON + "\"}").getBytes(StandardCharsets.UTF_8);
        for (CertificateName name : scripted) {
            boolean first = hosts.isEmpty();
            hosts.add(new ScriptedTicketHost(site, name, steps, statement, link -> {
                links.put(name, link);
                guests.getOrDefault(name, nobody -> {}).accept(link);
                if (first) {
                    vm.enter(link);
                }
            }));
        }
        this.relay =
                SiteRelay.start(lab, site, folder, step.orElse(steps.script().toString()), BOOT);
        poller.scheduleWithFixedDelay(this::poll, 0, POLL_MS, TimeUnit.MILLISECONDS);
        attach();
    }

    private void poll() {
        for (ScriptedTicketHost host : hosts) {
            try {
                host.poll();
            } catch (IOException | GeneralSecurityException | RuntimeException e) {
                faults.add(e);
            }
        }
    }

    private void attach() throws IOException {
        hosts.forEach(host -> host.attach(loops, relay.port()));
        Poll.until(
                "hosts and controlling VM at the relay",
                TIMEOUT,
                "read the relay's log",
                () -> vm.isWelcome() && hosts.stream().allMatch(ScriptedTicketHost::isAttached));
    }

    /** Of the relay, on loopback. */
    int port() {
        return relay.port();
    }

    /** Has a host's link, too, and each that it has later. */
    void share(CertificateName host, Consumer<ClientLink> guest) {
        guests.put(host, guest);
        guest.accept(Objects.requireNonNull(links.get(host), "the stage is set with all hosts attached"));
    }

    /** kill -9, and all links are gone. */
    void killRelay() throws IOException {
        relay.kill();
        hosts.forEach(ScriptedTicketHost::close);
        Poll.until(
                "the links' end",
                TIMEOUT,
                "look at the test",
                () -> !vm.isWelcome() && hosts.stream().noneMatch(ScriptedTicketHost::isAttached));
    }

    void startRelay() throws IOException {
        relay.restart();
        attach();
    }

    /** Jobs that do not run yet wait until {@link #resume}; a slurmctld that is killed may forget this. */
    void hold() throws IOException {
        lab.slurm().client("scontrol", "update", "partitionname=secure", "state=down");
    }

    void resume() throws IOException {
        lab.slurm().client("scontrol", "update", "partitionname=secure", "state=up");
    }

    /** A slurmctld that forgot where a job runs drains its node. */
    void mend() throws IOException {
        resume();
        lab.onSite("scontrol", "update", "nodename=h[1-2]", "state=resume").run();
    }

    void awaitSteps(String ticket, int count) throws IOException {
        Poll.until(count + " steps of " + ticket, TIMEOUT, "read the lab's logs", () -> steps.starts(ticket) >= count);
    }

    /** Hosts that have checked and taken a slot of it. */
    void awaitSlots(String ticket, int count) throws IOException {
        Poll.until(
                count + " slots of " + ticket,
                TIMEOUT,
                "read the relay's log",
                () -> hosts.stream()
                                .filter(host -> host.slot(ticket).isPresent())
                                .count()
                        == count);
    }

    Path jobState() throws IOException {
        return lab.slurm().folders().get(0).resolve("slurmctld/job_state");
    }

    /** Until slurmctld has written down all that it knows now, so that a kill -9 cannot make it forget. */
    void awaitSaved(long job) throws IOException {
        String mark = "mark" + System.nanoTime();
        lab.slurm().client("scontrol", "update", "jobid=" + job, "admincomment=" + mark);
        Poll.until(
                "job " + job + " in " + jobState(),
                TIMEOUT,
                "read slurmctld's log",
                () -> Files.readString(jobState(), StandardCharsets.ISO_8859_1).contains(mark));
    }

    /** It ended so; it has so many jobs in accounting, all over; of as many of its slots as are said the part has come. */
    void check(String ticket, TicketEnd end, int jobs, int parts) throws IOException {
        assertThat(vm.awaitEnd(ticket)).as(ticket).isEqualTo(end);
        assertThat(lab.slurm().awaitOver(ticket, jobs)).as(ticket).hasSize(jobs);
        Poll.until(
                parts + " parts of the receipt of " + ticket,
                TIMEOUT,
                "read the relay's log",
                () -> vm.parts(ticket).size() >= parts);
        checkRecords(ticket, jobs, parts);
    }

    /** The audit log says each thing as often as it was. */
    void checkRecords(String ticket, int jobs, int parts) throws IOException {
        assertThat(faults).isEmpty();
        List<String> events = events(ticket);
        String accepted = events.get(0);
        assertThat(accepted).isIn("ticket.accepted", "opening.accepted");
        for (String once : List.of(accepted, "ticket.ended")) {
            assertThat(events).as(ticket).containsOnlyOnce(once);
        }
        assertThat(events).as(ticket).filteredOn("ticket.queued"::equals).hasSize(Math.min(jobs, 1));
        assertThat(events).filteredOn("slot.reported"::equals).hasSize(parts);
    }

    /** Nothing is open but one, and the audit log holds, up to the head that the controlling VM heard last. */
    void checkQuiet(String except) throws IOException {
        JsonNode tickets = new ObjectMapper().readTree(operators("/tickets"));
        for (JsonNode ticket : tickets.path("tickets")) {
            if (!ticket.path("ticket").asText().equals(except)) {
                assertThat(ticket.path("state").asText()).as(ticket.toString()).isEqualTo("ended");
            }
        }
        assertThat(tickets.path("audit_writable").asBoolean()).isTrue();
        List<VerificationKey> keys =
                List.of(VerificationKey.of(PemCredentialFile.certificates(site.certificate(RelaySiteFiles.RELAY))
                        .get(0)
                        .getPublicKey()));
        List<AuditSegment> segments = new ArrayList<>();
        for (Path file : segments()) {
            segments.add(new AuditSegment(file.toString(), () -> Files.newInputStream(file)));
        }
        WitnessedAuditHead witness =
                new WitnessedAuditHead("the controlling VM's", vm.head().toByteArray());
        AuditVerification verification = new AuditLogVerifier(keys, 1).verify(segments, List.of(witness));
        assertThat(verification.findings()).isEmpty();
        assertThat(faults).isEmpty();
    }

    /** Kinds of the audit log's records about a ticket, in their order. */
    List<String> events(String ticket) throws IOException {
        List<String> kinds = new ArrayList<>();
        for (Path file : segments()) {
            for (String line : Files.readAllLines(file)) {
                AuditLine read = AuditLine.parse(line.getBytes(StandardCharsets.UTF_8));
                if (read instanceof AuditRecord record
                        && ticket.equals(record.facts().get("ticket"))) {
                    kinds.add(record.kind());
                }
            }
        }
        return kinds;
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("state/audit"))) {
            return files.filter(file -> AuditSegmentHeader.FILE
                            .matcher(file.getFileName().toString())
                            .matches())
                    .sorted()
                    .toList();
        }
    }

    private String operators(String path) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(site.socket()))) {
            String request = "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            String answer = new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 200 ");
            return answer.substring(answer.indexOf("\r\n\r\n") + 4);
        }
    }

    /** What the project knows, and nobody at Global Slurm is to learn. */
    List<String> markers() {
        return List.of(
                site.controller().project(),
                site.controller().toString(),
                Ticket.TYPE,
                JOB,
                PERSON,
                "10.64.",
                "10.65.");
    }

    @Override
    public void close() throws IOException {
        poller.shutdownNow();
        hosts.forEach(ScriptedTicketHost::close);
        relay.close();
        loops.shutdownGracefully();
    }
}
