package org.cloister.host.control;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.cloister.base.encoding.MalformedException;

/**
 * Session of a job step that waits for its VM: forwards progress to the caller, and stops the VM when the caller
 * requests it or disconnects.
 */
final class VmRunSession implements VmRunListener {
    private final ControlConnection caller;
    private final BooleanSupplier closing;
    private volatile boolean ended;

    /** @param closing whether the daemon itself closes the connection; the VM then continues to run */
    VmRunSession(ControlConnection caller, BooleanSupplier closing) {
        this.caller = caller;
        this.closing = closing;
    }

    /** Runs the VM and serves the caller until the connection ends. */
    void serve(HostOperations operations, JobStepCaller jobStep, ControlRequest.Run request) throws OperationRefused {
        // Set before the VM's first report: the caller may send nothing for days.
        caller.setReadTimeout(Duration.ZERO);
        HostOperations.Run run = operations.run(jobStep, request.ticket(), request.reattach(), this);
        try {
            for (Optional<byte[]> line = caller.readLine(); line.isPresent(); line = caller.readLine()) {
                ControlRequest.requireStop(line.get());
                run.stop();
            }
        } catch (MalformedException e) {
            // The caller is not agentctl. Its VM is stopped, as if the caller had disconnected.
            caller.send(ControlResponses.refusal(String.valueOf(e.getMessage()), ""));
        } catch (IOException e) {
            // A connection that cannot be read has lost its caller.
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
    public void onResult(VmRunResult result) {
        ended = true;
        caller.send(ControlResponses.result(result));
        caller.shutDown();
    }
}
