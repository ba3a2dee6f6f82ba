#!/bin/bash
# vm.sh FOLDER ROLE CPUS MEMORY_MIB DISK QEMU_OPTION...: a VM of the twin's image, as the process that this one becomes: its tap,
# its port on the bridge, and QEMU with the devices that ours have.
set -eu
folder=$1
role=$2
cpus=$3
memory=$4
disk=$5
shift 5
. "$folder/settings"

case $role in
    controller) number=1 ;;
    worker) number=2 ;;
esac
ip tuntap add dev "twin-$role" mode tap
ip link set "twin-$role" up
ovs-vsctl add-port br-twin "twin-$role" tag="$VLAN"

drives=()
for layer in $LAYERS; do
    drives+=(-drive "if=none,id=$layer,file=$IMAGE/$layer.squashfs,format=raw,readonly=on")
    drives+=(-device "virtio-blk-pci,drive=$layer,serial=layer-$layer")
done
drives+=(-drive "if=none,id=disk,file=$disk,format=raw" -device "virtio-blk-pci,drive=disk,serial=disk")
# The userspace bridge forwards frames as they are, with checksums that nobody filled in.
off=csum=off,gso=off,host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off
off=$off,guest_csum=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off
# As agent-host has it: emulated, pages are cleared a byte at a time with it.
case $ACCELERATOR in
    tcg*) processor=max,erms=off,fsrm=off ;;
    *) processor=max ;;
esac
exec qemu-system-x86_64 -name "twin-$role" -nodefaults -no-user-config -display none -no-reboot -machine q35 \
    -accel "$ACCELERATOR" -cpu "$processor" -smp "$cpus" -m "$memory" \
    -bios "$IMAGE/$FIRMWARE" -kernel "$IMAGE/$KERNEL" -initrd "$IMAGE/$INITRD" \
    -append "$COMMAND_LINE twin.name=twin-$role twin.address=10.98.0.$number/24" \
    "${drives[@]}" \
    -netdev "tap,id=net,ifname=twin-$role,script=no,downscript=no" \
    -device "virtio-net-pci,netdev=net,mac=52:54:00:00:98:0$number,romfile=,$off" \
    -device virtio-rng-pci "$@"
