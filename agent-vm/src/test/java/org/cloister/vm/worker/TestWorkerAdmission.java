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
import org.cloister.vm.controller.admission.AdmissionContext;
import org.cloister.vm.controller.admission.AdmittedWorkers;
import org.cloister.vm.controller.admission.CountedAdmissionMetrics;
import org.cloister.vm.controller.admission.HandoverLedger;
import org.cloister.vm.controller.admission.HandoverRecorder;
import org.cloister.vm.controller.admission.WorkerAdmission;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.jspecify.annotations.Nullable;

/** A controlling VM's admission for one worker, behind whichever link it is the events of: for tests that have the worker's host. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class TestWorkerAdmission implements AgentLinkListener, AutoCloseable {
    /** Of the worker's VM. */
    public static final Digest IMAGE = WorkerFixture.IMAGE;

    public static final String TICKET = WorkerFixture.TICKET;
    public static final int SLOT = WorkerFixture.SLOT;

    /** What the admission says of the worker. */
    public final List<WorkerEvent> events = new CopyOnWriteArrayList<>();
    /** The evidence for which something was given. */
    public final List<ByteString> evidence = new CopyOnWriteArrayList<>();

    private final ExecutorService decisions = Executors.newSingleThreadExecutor();
    private final WorkerFixture fixture;
    private final TrustStore trustStore;
    private final WorkerAdmission admission;
    private volatile boolean served;
    private volatile @Nullable ClientLink link;

    /** @param hostKey of the host that the worker's slot is on */
    public TestWorkerAdmission(Path folder, SigningKey hostKey) throws Exception {
        fixture = new WorkerFixture(hostKey);
        trustStore = new TrustStore(
                TrustAnchors.none().withProject(fixture.project), RevocationLists.none(), InstantSource.system());
        admission = new WorkerAdmission(
                new AdmissionContext(
                        () -> fixture.controllers,
                        trustStore,
                        envelope -> fixture.allocation(),
                        fixture.policy,
                        new AdmissionContext.HostTrust(key -> false, key -> false),
                        false),
                new WorkerAdmission.Stores(
                        HandoverLedger.open(folder.resolve("spent")), AdmittedWorkers.open(folder.resolve("guests"))),
                fixture,
                new RecordedHandovers(),
                new WorkerAdmission.Threads(decisions, decisions),
                InstantSource.system(),
                new CountedAdmissionMetrics());
        decisions
                .submit(() -> {
                    admission.start(events::add);
                    return admission.expectWorkers(fixture.ticket, fixture.update());
                })
                .get(20, TimeUnit.SECONDS);
    }

    private final class RecordedHandovers implements HandoverRecorder {
        @Override
        public void recordHandover(HandoverTarget place, ByteString attestation, HandoverDocument handover) {
            evidence.add(attestation);
        }

        @Override
        public void recordWorkerStatement(String ticket, int slot, ByteString part) {}
    }

    public ProjectHistory project() {
        return fixture.project;
    }

    /** Of the project's owners. */
    public byte[] revocations() {
        return fixture.revocations;
    }

    /** The list after that one. */
    public byte[] laterRevocations() {
        return fixture.laterRevocations;
    }

    public CertificateName controller() {
        return fixture.controller;
    }

    public CertificateName worker() {
        return fixture.worker;
    }

    /** The worker's assignment. */
    public AssignmentMessage.Assigned told() {
        return fixture.told();
    }

    /** How often something was handed over. */
    public int gives() {
        return fixture.gives.get();
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
        attachment.serve(fixture.controller);
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        served = refused.isEmpty();
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        admission.onDial(attachment, dial);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        try {
            trustStore.addRevocationList(signed);
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
        admission.close();
        fixture.mungeKey.close();
        fixture.newKey.close();
    }
}
