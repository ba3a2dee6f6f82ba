package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.cloister.vm.controller.admission.AdmittedWorkers;
import org.cloister.vm.controller.admission.CountedAdmissionMetrics;
import org.cloister.vm.controller.admission.HandoverLedger;
import org.cloister.vm.controller.admission.HandoverRecorder;
import org.cloister.vm.controller.admission.WorkerAdmission;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.jspecify.annotations.Nullable;

/** A controlling VM's desk for one worker, behind whichever link it is the events of: for tests that have the worker's host. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class TestWorkerAdmission implements AgentLinkListener, AutoCloseable {
    /** Of the worker's VM. */
    public static final Digest IMAGE = WorkerFixture.IMAGE;

    public static final String TICKET = WorkerFixture.TICKET;
    public static final int SLOT = WorkerFixture.SLOT;

    /** What the desk says of the worker. */
    public final List<WorkerEvent> news = new CopyOnWriteArrayList<>();
    /** The evidence for which something was given. */
    public final List<ByteString> evidence = new CopyOnWriteArrayList<>();

    private final ExecutorService decisions = Executors.newSingleThreadExecutor();
    private final WorkerFixture world;
    private final TrustStore beliefs;
    private final WorkerAdmission desk;
    private volatile boolean served;
    private volatile @Nullable ClientLink link;

    /** @param hostKey of the host that the worker's slot is on */
    public TestWorkerAdmission(Path folder, SigningKey hostKey) throws Exception {
        world = new WorkerFixture(hostKey);
        beliefs = new TrustStore(
                TrustAnchors.none().withProject(world.project), RevocationLists.none(), InstantSource.system());
        desk = new WorkerAdmission(
                new WorkerAdmission.Context(
                        () -> world.controllers,
                        beliefs,
                        envelope -> world.allocation(),
                        world.policy,
                        new WorkerAdmission.HostTrust(key -> false, key -> false),
                        false),
                new WorkerAdmission.Stores(
                        HandoverLedger.open(folder.resolve("spent")), AdmittedWorkers.open(folder.resolve("guests"))),
                world,
                new RecordedHandovers(),
                decisions,
                InstantSource.system(),
                new CountedAdmissionMetrics());
        decisions
                .submit(() -> {
                    desk.start(news::add);
                    return desk.expectWorkers(world.ticket, world.update());
                })
                .get(20, TimeUnit.SECONDS);
    }

    private final class RecordedHandovers implements HandoverRecorder {
        @Override
        public void recordHandover(HandoverTarget place, ByteString shown, HandoverDocument given) {
            evidence.add(shown);
        }

        @Override
        public void recordWorkerStatement(String ticket, int slot, ByteString part) {}
    }

    public ProjectHistory project() {
        return world.project;
    }

    /** Of the project's owners. */
    public byte[] revocations() {
        return world.revocations;
    }

    /** The list after that one. */
    public byte[] laterRevocations() {
        return world.laterRevocations;
    }

    public CertificateName controller() {
        return world.controller;
    }

    public CertificateName worker() {
        return world.worker;
    }

    /** The worker's assignment. */
    public AssignmentMessage.Assigned told() {
        return world.told();
    }

    /** How often something was handed over. */
    public int gives() {
        return world.gives.get();
    }

    /** On which it is called. */
    public ClientLink link() {
        return Objects.requireNonNull(link, "a link");
    }

    /** Whether workers can call. */
    public boolean isServed() {
        return served;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        link = attachment.link();
        attachment.serve(world.controller);
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        served = refused.isEmpty();
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        desk.onDial(attachment, dial);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        try {
            beliefs.addRevocationList(signed);
            return true;
        } catch (IOException e) {
            // Of the site, or of another project.
            return false;
        }
    }

    @Override
    public void onLost(String why) {
        served = false;
    }

    @Override
    public void close() {
        decisions.shutdownNow();
        desk.close();
        world.mungeKey.close();
        world.newKey.close();
    }
}
