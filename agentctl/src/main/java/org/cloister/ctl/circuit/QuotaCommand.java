package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code agentctl project quota}: what the site lets the project have at one time, and what it has. */
@Command(
        name = "quota",
        description = "Prints what the site lets the project have at one time, and what its open tickets ask for.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class QuotaCommand implements Callable<Integer> {
    private static final int WAIT_S = 60;

    @Mixin
    private LinkOptions link;

    @Mixin
    private OutputOption output;

    /** Asks once it is welcome. */
    private static final class Question implements TicketStream.Events {
        final CompletableFuture<OfficeMessage.Quota> answer = new CompletableFuture<>();

        @Override
        public void heard(TicketStream stream, OfficeMessage message) {
            if (message instanceof OfficeMessage.Welcome) {
                stream.say(new PartyMessage.AskQuota());
            } else if (message instanceof OfficeMessage.Quota quota) {
                answer.complete(quota);
            } else if (message instanceof OfficeMessage.Refused refused) {
                answer.completeExceptionally(
                        new IOException("quota refused (" + refused.clause() + "): " + refused.text()));
            }
        }

        @Override
        public void ended(String why) {
            answer.completeExceptionally(new IOException("relay: " + why));
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        Question question = new Question();
        try (LinkOptions.Attached attached = link.attach(owners, link.beliefs(owners))) {
            TicketStream.open(attached.link(), Optional.empty(), question);
            OfficeMessage.Quota quota = question.answer.get(WAIT_S, TimeUnit.SECONDS);
            Facts facts = new Facts()
                    .with("account", quota.account())
                    .with("until", quota.until().toString());
            for (OfficeMessage.Share share : quota.shares()) {
                facts.with(share.name(), share.used() + " of " + share.most());
            }
            output.print(facts);
            return ExitCode.OK.code();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException("relay: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new IOException("relay: want an answer within " + WAIT_S + " s, have none", e);
        }
    }
}
