package org.cloister.ctl.project;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.circuit.DeviceTicketSession;
import org.cloister.ctl.circuit.RelayLinkOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project quota}: prints the project's quota and its usage. */
@Command(
        name = "quota",
        description = "Prints the quota that the site approved for the project, and what its open tickets use of it.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectQuotaCommand implements Callable<Integer> {
    @Mixin
    private RelayLinkOptions link;

    @Mixin
    private OutputOption output;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        try (DeviceTicketSession line = DeviceTicketSession.open(link.attach(owners, link.trustStore(owners)))) {
            line.send(new AgentTicketMessage.QueryQuota());
            RelayTicketMessage.Quota quota = line.receive(RelayTicketMessage.Quota.class, "quota");
            KeyValueOutput facts = new KeyValueOutput()
                    .with("account", quota.account())
                    .with("until", quota.validUntil().toString());
            for (RelayTicketMessage.Share share : quota.shares()) {
                facts.with(share.name(), share.used() + " of " + share.most());
            }
            output.print(facts);
            return ExitCode.OK.code();
        }
    }
}
