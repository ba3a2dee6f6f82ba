package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project quota}: what the site lets the project have at one time, and what it has. */
@Command(
        name = "quota",
        description = "Prints what the site lets the project have at one time, and what its open tickets ask for.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class QuotaCommand implements Callable<Integer> {
    @Mixin
    private LinkOptions link;

    @Mixin
    private OutputOption output;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        try (TicketLine line = TicketLine.open(link.attach(owners, link.beliefs(owners)))) {
            line.say(new PartyMessage.AskQuota());
            OfficeMessage.Quota quota = line.hear(OfficeMessage.Quota.class, "quota");
            Facts facts = new Facts()
                    .with("account", quota.account())
                    .with("until", quota.until().toString());
            for (OfficeMessage.Share share : quota.shares()) {
                facts.with(share.name(), share.used() + " of " + share.most());
            }
            output.print(facts);
            return ExitCode.OK.code();
        }
    }
}
