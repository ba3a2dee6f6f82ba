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
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project status}: prints the state of the project's controlling VM, and who may open it. */
@Command(
        name = "status",
        description = "Prints the state of the project's controlling VM as the relay sees it, its host, "
                + "since when it has run, and who can open it. Changes nothing.")
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
            output.print(new ProjectStatusOutput(owners, opener(owners, trustStore), openings, Instant.now()));
            return ExitCode.OK.code();
        }
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
