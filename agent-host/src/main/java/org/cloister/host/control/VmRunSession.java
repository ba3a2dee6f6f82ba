package org.cloister.host.control;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.cloister.base.encoding.MalformedException;

/** A job step that waits for its VM: what is told goes to the caller; its wish, or its going away, ends the VM. */
final class VmRunSession implements VmRunListener {
    private final ControlConnection caller;
    private final BooleanSupplier closing;
    private volatile boolean ended;

    /** @param closing whether the daemon itself ends the connection, with the VM living on */
    VmRunSession(ControlConnection caller, BooleanSupplier closing) {
        this.caller = caller;
        this.closing = closing;
    }

    /** Returns at the connection's end. */
    void serve(HostOperations work, JobStepCaller who, ControlRequest.Run asked) throws OperationRefused {
        // Before a word of the VM can come: the caller may say nothing for days.
        caller.setReadTimeout(Duration.ZERO);
        HostOperations.Run run = work.run(who, asked.ticket(), asked.reattach(), this);
        try {
            for (Optional<byte[]> line = caller.readLine(); line.isPresent(); line = caller.readLine()) {
                ControlRequest.requireStop(line.get());
                run.stop();
            }
        } catch (MalformedException e) {
            // Not agentctl. Its VM ends as that of one that has gone.
            caller.send(ControlResponses.refusal(String.valueOf(e.getMessage()), ""));
        } catch (IOException e) {
            // A connection that cannot be read is one whose other side has gone.
            caller.shutDown();
        }
        if (!ended && !closing.getAsBoolean()) {
            run.stop();
        }
    }

    @Override
    public void onPhase(VmRunPhase phase, Duration took) {
        caller.send(ControlResponses.phase(phase, took));
    }

    @Override
    public void onResult(VmRunResult how) {
        ended = true;
        caller.send(ControlResponses.result(how));
        caller.shutDown();
    }
}
