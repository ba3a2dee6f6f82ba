package org.cloister.lab.project;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.Command;
import org.cloister.lab.Host;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySite;
import org.cloister.lab.site.Consoles;
import org.cloister.lab.site.Guests;
import org.cloister.lab.site.HostEyes;
import org.cloister.lab.site.SiteHosts;
import org.cloister.lab.site.WorkingSite;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.vm.slurm.LocalSlurm;

/**
 * A project with two owners who open its controlling VM, and a member who is an exporter, too: behind the real relay, on the
 * lab's real hosts, with guests that speak.
 */
public final class ProjectStage implements AutoCloseable {
    public static final String DRIVE = "main";
    public static final String LOGIN = "ada";

    private static final int DRIVE_MIB = 768;
    private static final int MEMORY_MIB = 1500;

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int WORDS = 12;
    /** What the lab's own look around in a controlling VM at work says last: {@code lab/guest}, its script {@code console}. */
    private static final String LOOKED = "look: over";

    private static final String SETTINGS = """
            [memory]
            qemu-mib = 448
            [[shape]]
            hosts = 2
            cpus = 2
            memory-mib = 1200
            scratch-mib = 64
            """;

    private static final String MEMBERS = """
            [[member]]
            login = "%s"
            uid = 2001
            gid = 2001
            person = "p1"
            [[member]]
            login = "bob"
            uid = 2002
            gid = 2002
            person = "p2"
            """.formatted(LOGIN);

    public final OpenerDevice first;
    public final OpenerDevice second;
    public final MemberDevice member;
    /** Another one, who takes nothing out. */
    public final MemberDevice bob;

    private final WorkingSite site;
    private final RelaySite parties;
    private final Path policy;
    private final Path settings;
    private final Path members;

    /** A VM that runs for an opening, what its cable carries, and what agentctl came to. */
    public record Opened(VmOwner owner, int agent, Wiretap wire, CompletableFuture<Command.Output> answer)
            implements AutoCloseable {
        @Override
        public void close() {
            wire.close();
        }
    }

    private ProjectStage(WorkingSite site, RelaySite parties, Path folder)
            throws IOException, GeneralSecurityException {
        this.site = site;
        this.parties = parties;
        parties.enrol("p2");
        int relay = site.port();
        var owners = parties.owners();
        this.first = new OpenerDevice(parties, relay, folder.resolve("first"), "p1", owners.get(0));
        this.second = new OpenerDevice(parties, relay, folder.resolve("second"), "p2", owners.get(1));
        this.settings = Files.writeString(folder.resolve("controller.toml"), SETTINGS);
        this.members = Files.writeString(folder.resolve("members.toml"), MEMBERS);
        this.policy = OpenerDevice.policy(parties, RelaySite.NODES, 1, folder.resolve("policy"));
        List<Role> roles = List.of(Role.DEVICE, Role.MEMBER, Role.EXPORTER);
        this.member = new MemberDevice(new Device(parties, relay, folder.resolve("member"), "p1", roles), policy);
        this.bob = new MemberDevice(
                new Device(parties, relay, folder.resolve("bob"), "p2", List.of(Role.DEVICE, Role.MEMBER)), policy);
    }

    /**
     * The project that the site knows from the first; {@link #close} ends the site, too.
     *
     * @param folder of its people's devices
     */
    public static ProjectStage first(WorkingSite site, Path folder) throws IOException {
        return of(site, site.parties(), folder);
    }

    /**
     * Another project at the same site, with owners and members of its own, who are called the same. It has nothing to be closed
     * but its VM.
     */
    public ProjectStage beside(Path folder) throws IOException {
        return of(site, parties.beside(folder.resolve("project")), folder);
    }

    private static ProjectStage of(WorkingSite site, RelaySite parties, Path folder) throws IOException {
        try {
            return new ProjectStage(site, parties, Files.createDirectories(folder));
        } catch (GeneralSecurityException e) {
            throw new IOException("project of the lab: " + e.getMessage(), e);
        }
    }

    public WorkingSite site() {
        return site;
    }

    @Override
    public void close() throws IOException {
        site.close();
    }

    /** The first owner makes the drive, for both. */
    public Opened make() throws IOException {
        return open(
                first,
                words("--make", DRIVE_MIB + "M", "--create", "--recipient", "p2=" + second.drive()),
                words("--settings", settings.toString(), "--members", members.toString()));
    }

    /** What an owner adds to {@link #open} for the drive that {@link #make} has made. */
    public String[] shared() {
        return words("--envelope", first.envelope(DRIVE).toString());
    }

    /** An opener's agentctl project open, by the owners' policy. */
    public Command opening(OpenerDevice device, String[]... more) throws IOException {
        return opening(device, policy, more);
    }

    private static Command opening(OpenerDevice device, Path policy, String[]... more) throws IOException {
        String[] common = words("--cpus", "1", "--memory", MEMORY_MIB + "M", "--policy", policy.toString());
        String[] all = Stream.concat(Stream.of(common), Stream.of(more).flatMap(Stream::of))
                .toArray(String[]::new);
        return device.opening(DRIVE, all);
    }

    /** Its VM runs when this returns; {@link #awaitWork}. */
    public Opened open(OpenerDevice device, String[]... more) throws IOException {
        return open(opening(device, more));
    }

    /** By the owners' next policy, which names none of the site's hosts; {@link #awaitDenied}. */
    public Opened openUnnamed(OpenerDevice device, String[]... more) throws IOException {
        try {
            Path next = OpenerDevice.policy(parties, List.of(RelaySite.HOST), 2, policy.resolveSibling("next-policy"));
            return open(opening(device, next, more));
        } catch (GeneralSecurityException e) {
            throw new IOException("policy of the lab: " + e.getMessage(), e);
        }
    }

    private Opened open(Command opening) throws IOException {
        List<VmOwner> before = vms();
        CompletableFuture<Command.Output> answer = CompletableFuture.supplyAsync(() -> {
            try {
                return opening.run();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        List<VmOwner> made = new ArrayList<>();
        String logs = "read the relay's and agent-host's logs";
        Poll.until("a controlling VM", SiteHosts.LIMIT, logs, SiteHosts.AGAIN, () -> {
            if (answer.isDone()) {
                throw new LabException("opened nothing: " + answer.join(), "read agentctl's words");
            }
            vms().stream().filter(vm -> !before.contains(vm)).forEach(made::add);
            return !made.isEmpty();
        });
        VmOwner owner = made.get(0);
        int agent = site.hosts().awaitRunning(owner.ticket());
        return new Opened(owner, agent, tap(site.lab().hosts().get(agent), owner), answer);
    }

    /** Of a VM that is being made, from its first frame. */
    public static Wiretap tap(Host host, VmOwner owner) throws IOException {
        String tap = owner.name().tap();
        Poll.until(
                "its cable",
                SiteHosts.LIMIT,
                "read agent-host's log",
                () -> host.command("ip", "link", "show", tap).run().exit() == 0);
        Path network = Path.of("/proc", Long.toString(host.pid()), "ns/net");
        return new Wiretap(List.of(FrameSocket.open(network, tap)));
    }

    /** The opener has its answer, and the VM's journal says that its project is at work. */
    public JsonNode awaitWork(Opened opened) throws IOException {
        try {
            Command.Output answer = answer(opened);
            if (answer.exit() != 0) {
                throw new LabException("project open: " + answer, "read the relay's and agent-host's logs");
            }
            Poll.until("a project at work", LIMIT, "read what its journal says", Guests.AGAIN, () -> {
                if (said(opened).contains(LOOKED)) {
                    return true;
                }
                if (!vms().contains(opened.owner)) {
                    throw new LabException("the VM ended", "read what its journal said");
                }
                return false;
            });
            return new ObjectMapper().readTree(answer.out());
        } catch (IOException e) {
            explain();
            throw new LabException(
                    e.getMessage() + "; its console says last: "
                            + Consoles.last(said(opened), WORDS).replaceAll("[\\r\\n]+", " | "),
                    "read all of it above",
                    e);
        }
    }

    /**
     * The opener has its answer, and the VM waits on.
     *
     * @return what stands against it
     */
    public String awaitDenied(Opened opened) throws IOException {
        Command.Output answer = answer(opened);
        if (answer.exit() == 0 || !vms().contains(opened.owner)) {
            throw new LabException("project open: want a VM that is denied, have " + answer, "read its policy");
        }
        return answer.err();
    }

    private static Command.Output answer(Opened opened) throws IOException {
        try {
            return opened.answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("project open: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }

    /** agentctl receipt verify, with all that it can be given. */
    public Command.Output verify(Path receipt) throws IOException {
        return first.agentctl(words(
                        "receipt",
                        "verify",
                        receipt.toString(),
                        "--project",
                        parties.genesis().toString(),
                        "--site",
                        parties.siteCertificate().toString()))
                .run();
    }

    /** On its console. */
    public String said(Opened opened) {
        return site.consoles().of(opened.owner.name().domain());
    }

    /** Nothing is left of any VM on any host, nor of the project at the relay. */
    public void awaitNothing() throws IOException {
        try {
            site.hosts().awaitNothing();
            awaitTickets();
        } catch (IOException | RuntimeException e) {
            explain();
            for (Host host : site.lab().hosts()) {
                System.out.println(host.name() + " has " + new HostEyes(host).all());
            }
            throw e;
        }
    }

    /** A VM that was closed. */
    public void awaitGone(Opened opened) throws IOException {
        Poll.until(
                "the VM's end", LIMIT, "read agent-host's log", SiteHosts.AGAIN, () -> !vms().contains(opened.owner));
    }

    /** Of the project's VMs and tickets the controlling one's is left, and of its nodes the block. */
    public void awaitNoWorker() throws IOException {
        Poll.until("no worker's VM", LIMIT, "read agent-host's logs", SiteHosts.AGAIN, () -> vms().size() == 1);
        awaitTickets();
        member.await(
                "no node but the block",
                LIMIT,
                "all=$(sinfo -h -N -o %N) && ! grep -q -v ^" + LocalSlurm.BLOCK + " <<<\"$all\"");
    }

    /** The relay has none of the project's open but those of the VMs that are left. */
    private void awaitTickets() throws IOException {
        String asked = "ask agentctl relay tickets";
        Poll.until("no ticket of a VM that is gone", LIMIT, asked, SiteHosts.AGAIN, () -> {
            List<String> open = new ArrayList<>();
            String socket = site.relaySocket().toString();
            for (JsonNode ticket : new ObjectMapper()
                    .readTree(first.agentctl(words("relay", "tickets", "--socket", socket, "--output", "json"))
                            .succeed())
                    .path("tickets")) {
                if (!ticket.has("end")
                        && ticket.path("project")
                                .asText()
                                .equals(parties.controller().project())) {
                    open.add(ticket.path("ticket").asText());
                }
            }
            return open.equals(vms().stream().map(VmOwner::ticket).toList());
        });
    }

    /** Its VM's name, by which the project's own dial it. */
    public Name controller() {
        return new Name(DRIVE, Role.CONTROLLER.toString(), parties.controller().project());
    }

    /** What becomes of a circuit that a member of this project wants to that name. */
    public String dials(Name whom) throws IOException {
        return new Stranger(parties, site.port()).dials(whom);
    }

    /** The project's. */
    public List<VmOwner> vms() throws IOException {
        return site.hosts().owners().stream()
                .filter(vm -> vm.project().equals(parties.controller().project()))
                .toList();
    }

    /** Of one ticket. */
    public List<VmOwner> vms(String ticket) throws IOException {
        return vms().stream().filter(vm -> vm.ticket().equals(ticket)).toList();
    }

    /** The VM of a member's job that runs on one. */
    public VmOwner worker(String job) throws IOException {
        String name = "cloister-" + member.node(job);
        return vms().stream()
                .filter(vm -> vm.name().domain().equals(name))
                .findAny()
                .orElseThrow(() -> new LabException("job " + job + ": no VM " + name, "read agent-host's log"));
    }

    /** What a test does. */
    public interface Story {
        void tell() throws Exception;
    }

    /** With all that may show why, if it fails. */
    public void explained(Story story) throws Exception {
        try {
            story.tell();
        } catch (Exception | AssertionError e) {
            explain();
            System.out.println(
                    member.ssh("squeue; sacct -X; scontrol show node").run());
            throw e;
        }
    }

    /** For whoever looks for a fault. */
    public void explain() throws IOException {
        System.out.println(site.explained());
    }

    public static String[] words(String... words) {
        return words;
    }
}
