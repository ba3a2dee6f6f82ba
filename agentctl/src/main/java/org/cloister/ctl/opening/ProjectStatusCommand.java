package org.cloister.ctl.opening;

import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.circuit.DeviceTicketSession;
import org.cloister.ctl.circuit.RelayLinkOptions;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.OpeningStatus;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.transport.tls.TlsCredential;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project status}: prints the state of the project's controlling VM, and who may open it. */
@Command(
        name = "status",
        description =
                "Prints the state of the project's controlling VM as the relay sees it and the VM itself answers, "
                        + "its host, since when it has run, and who can open it. Changes nothing.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectStatusCommand implements Callable<Integer> {
    @Mixin
    private RelayLinkOptions link;

    @Mixin
    private OutputOption output;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        TrustStore trustStore = link.trustStore(owners);
        try (DeviceTicketSession line = DeviceTicketSession.open(link.attach(owners, trustStore))) {
            line.send(new AgentTicketMessage.QueryOpenings());
            RelayTicketMessage.Openings openings = line.receive(RelayTicketMessage.Openings.class, "status");
            Optional<OpeningStatus> unclear =
                    ProjectStatusOutput.present(openings).filter(each -> each.reachable() && !each.working());
            Optional<CloseReason> phase =
                    unclear.isPresent() ? askPhase(line, owners, trustStore, unclear.get()) : Optional.empty();
            output.print(new ProjectStatusOutput(owners, opener(owners, trustStore), openings, phase, Instant.now()));
            return ExitCode.OK.code();
        }
    }

    /** Returns what the VM itself says, since its relay does not know whether it is locked or starts its project. */
    private Optional<CloseReason> askPhase(
            DeviceTicketSession line, ProjectHistory owners, TrustStore trustStore, OpeningStatus opening)
            throws IOException, InterruptedException {
        TlsCredential device = link.login(owners).read(CertificateRole.DEVICE);
        CertificateName from = trustStore
                .verifyUnlisted(CertificateChain.of(device.chain()), Set.of(CertificateRole.DEVICE))
                .name();
        return ControllerPhaseQuery.ask(
                line.link(),
                from,
                Opening.controller(opening.drive(), owners.id()),
                device,
                CertifiedPeerVerifier.forCircuitEnds(trustStore));
    }

    /** Returns the opener of this login; empty if it has no opener's certificate. */
    private Optional<CertifiedIdentity> opener(ProjectHistory owners, TrustStore trustStore) {
        try {
            return Optional.of(trustStore.verifyUnlisted(
                    CertificateChain.of(
                            link.login(owners).read(CertificateRole.OPENER).chain()),
                    Set.of(CertificateRole.OPENER)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
