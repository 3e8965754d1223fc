// Unreal: a member of the actor that moves; call Report from its Tick, and add "Sockets" and
// "Networking" to PublicDependencyModuleNames. Sends binary records to `epic listen 9870 --layout
// 'time:f64 id:u32 y:f32/100 x:f32/100 z:f32/100 qy:f32*-1 qx:f32*-1 qz:f32*-1 qw:f32'`
// and writes a file that `epic inspect` reads. Unreal is left-handed with z up, in centimetres, and
// FQuat has W last: the layout makes metres of it, and with x for y and these signs a right-handed
// system; for the file, --read axes=yxz,scale=0.01 does. For FRotator's Yaw, Pitch and Roll in a file
// add --read euler=unreal.
#pragma once
#include "Common/UdpSocketBuilder.h"
#include "CoreMinimal.h"
#include "HAL/FileManager.h"
#include "Misc/FileHelper.h"
#include "SocketSubsystem.h"
#include "Sockets.h"

class FEpicReport {
public:
    explicit FEpicReport(const FString& InFile = FString(), int32 Port = 9870) : File(InFile) {
        Socket = FUdpSocketBuilder(TEXT("EpicReport")).AsNonBlocking().Build();
        Target = ISocketSubsystem::Get(PLATFORM_SOCKETSUBSYSTEM)->CreateInternetAddr();
        bool bValid = false;
        Target->SetIp(TEXT("127.0.0.1"), bValid);
        Target->SetPort(Port);
        if (!File.IsEmpty()) // as game.csv
            FFileHelper::SaveStringToFile(TEXT("time,entity,x,y,z,qx,qy,qz,qw\n"), *File);
    }

    ~FEpicReport() {
        if (Socket) ISocketSubsystem::Get(PLATFORM_SOCKETSUBSYSTEM)->DestroySocket(Socket);
    }

    void Report(uint32 Id, double Time, const FVector& P, const FQuat& Q) {
#pragma pack(push, 1)
        struct { double Time; uint32 Id; float X, Y, Z, QX, QY, QZ, QW; } Record = {
            Time, Id, float(P.X), float(P.Y), float(P.Z),
            float(Q.X), float(Q.Y), float(Q.Z), float(Q.W)};
#pragma pack(pop)
        int32 Sent = 0;
        if (Socket)
            Socket->SendTo(reinterpret_cast<const uint8*>(&Record), sizeof Record, Sent, *Target);
        if (File.IsEmpty()) return;
        FFileHelper::SaveStringToFile(
            FString::Printf(TEXT("%.6f,%u,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n"), Time, Id,
                            P.X, P.Y, P.Z, Q.X, Q.Y, Q.Z, Q.W),
            *File, FFileHelper::EEncodingOptions::ForceUTF8WithoutBOM, &IFileManager::Get(),
            FILEWRITE_Append);
    }

private:
    FSocket* Socket = nullptr;
    TSharedPtr<FInternetAddr> Target;
    FString File;
};
