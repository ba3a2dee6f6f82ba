package org.cloister.ctl.opening;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.circuit.RelayLinkOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl project close}: withdraws an opening. */
@Command(
        name = "close",
        description = "Withdraws an opening, whichever opener signed it, and waits until its VM has "
                + "ended. Signs with the login's opener key.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectCloseCommand implements Callable<Integer> {
    @Parameters(paramLabel = "ID", description = "The opening's id, which agentctl project open printed.")
    private String id;

    @Mixin
    private RetryTimeOption retryTime;

    @Mixin
    private RelayLinkOptions link;

    @Mixin
    private OutputOption output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        Withdrawal withdrawal = withdrawal(owners.id());
        TrustStore trustStore = link.trustStore(owners);
        OpeningSigner opener = OpeningSigner.of(link.login(owners), trustStore);
        AgentTicketMessage signed = opener.signWithdrawal(withdrawal);
        try (OpenerRelaySession relay = OpenerRelaySession.open(link, owners, trustStore, retryTime.time())) {
            // A withdrawal may be repeated; the relay answers with the opening's state.
            RelayTicketMessage.Update update =
                    relay.sendUntil(id, signed, signed, each -> each.state() == TicketState.ENDED);
            KeyValueOutput facts = new KeyValueOutput().with("opening", id);
            OpeningStateOutput.addTo(facts, update);
            output.print(facts);
            return ExitCode.OK.code();
        }
    }

    private Withdrawal withdrawal(String project) {
        try {
            return new Withdrawal(id, project);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
