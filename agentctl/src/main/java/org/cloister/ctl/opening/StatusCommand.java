package org.cloister.ctl.opening;

import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.circuit.LinkOptions;
import org.cloister.ctl.circuit.TicketLine;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project status}: how the project's controlling VM is, and who may open it. */
@Command(
        name = "status",
        description =
                "Prints whether the project's controlling VM is open, waits or is lost, where it is and since when, and who can open it, as the relay sees it. Changes nothing.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class StatusCommand implements Callable<Integer> {
    @Mixin
    private LinkOptions link;

    @Mixin
    private OutputOption output;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        Beliefs beliefs = link.beliefs(owners);
        try (TicketLine line = TicketLine.open(link.attach(owners, beliefs))) {
            line.say(new PartyMessage.AskOpenings());
            OfficeMessage.Openings openings = line.hear(OfficeMessage.Openings.class, "status");
            output.print(new ProjectStanding(owners, opener(owners, beliefs), openings, Instant.now()));
            return ExitCode.OK.code();
        }
    }

    /** Empty if this login is none that opens. */
    private Optional<Identity> opener(ProjectHistory owners, Beliefs beliefs) {
        try {
            return Optional.of(beliefs.verifyUnlisted(
                    Chain.of(link.login(owners).read(Role.OPENER).chain()), Set.of(Role.OPENER)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
