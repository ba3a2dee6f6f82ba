package org.cloister.host.desk;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.cloister.protocol.MalformedException;

/** A job step that waits for its VM: what is told goes to the caller; its wish, or its going away, ends the VM. */
final class Waiting implements Phases {
    private final Connection caller;
    private final BooleanSupplier closing;
    private volatile boolean ended;

    /** @param closing whether the daemon itself ends the connection, with the VM living on */
    Waiting(Connection caller, BooleanSupplier closing) {
        this.caller = caller;
        this.closing = closing;
    }

    /** Returns at the connection's end. */
    void await(Work work, Caller who, Request.Run asked) throws WorkRefused {
        // Before a word of the VM can come: the caller may say nothing for days.
        caller.readWithin(Duration.ZERO);
        Work.Run run = work.run(who, asked.ticket(), asked.again(), this);
        try {
            for (Optional<byte[]> line = caller.readLine(); line.isPresent(); line = caller.readLine()) {
                Request.requireStop(line.get());
                run.stop();
            }
        } catch (MalformedException e) {
            // Not agentctl. Its VM ends as that of one that has gone.
            caller.send(Lines.refused(String.valueOf(e.getMessage()), ""));
        } catch (IOException e) {
            // A connection that cannot be read is one whose other side has gone.
            caller.hangUp();
        }
        if (!ended && !closing.getAsBoolean()) {
            run.stop();
        }
    }

    @Override
    public void reached(Phase phase, Duration took) {
        caller.send(Lines.phase(phase, took));
    }

    @Override
    public void ended(Ending how) {
        ended = true;
        caller.send(Lines.end(how));
        caller.hangUp();
    }
}
